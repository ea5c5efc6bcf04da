"""The source itself: Python 3.9, nothing but the standard library, typed."""

import ast
import builtins
import inspect
import sys
import typing
import unittest

import larva
import larva.shell.python_api as python_api

from .support import HERE, PACKAGE

FOURTEEN = {
    "validate": ["spec"],
    "register": ["spec", "variant"],
    "resolve": ["id", "overrides", "variant"],
    "update": ["id", "patches", "variant"],
    "update_batch": ["where", "patches", "dry_run"],
    "clone": ["source_id", "new_id"],
    "list": [],
    "delete": ["id"],
    "clear": ["confirm"],
    "export_all": [],
    "export_ids": ["ids"],
    "variant_list": ["id"],
    "variant_activate": ["id", "variant"],
    "variant_delete": ["id", "variant"],
}


class TestSource(unittest.TestCase):
    def test_python_3_9(self) -> None:
        for path in [*PACKAGE.rglob("*.py"), *HERE.glob("*.py")]:
            tree = ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))
            compile(tree, str(path), "exec")
            if path.is_relative_to(PACKAGE) and path.name not in ("__init__.py", "python_api.py"):
                self.assertFalse(self.unions(tree), f"{path}: X | Y where Python 3.9 would evaluate it")

    def unions(self, tree: ast.Module) -> "typing.List[int]":
        """Lines with X | Y outside annotations; the package has no other use for |."""
        return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.BitOr)]

    @unittest.skipIf(sys.version_info < (3, 10), "the list of modules is from 3.10")
    def test_standard_library_alone(self) -> None:
        for path in PACKAGE.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = []
                if isinstance(node, ast.Import):
                    names = [a.name for a in node.names]
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    self.assertIn(name.split(".")[0], sys.stdlib_module_names, str(path))

    def test_signatures(self) -> None:
        for name, want in FOURTEEN.items():
            function = getattr(larva, name)
            self.assertIs(function, getattr(python_api, name))
            self.assertEqual([*inspect.signature(function).parameters], want, name)
            self.assertEqual([*inspect.signature(getattr(larva.Client, name)).parameters], ["self", *want], name)
            self.assertTrue(inspect.getdoc(function), name)
        confirm = inspect.signature(larva.clear).parameters["confirm"]
        self.assertIs(confirm.kind, inspect.Parameter.KEYWORD_ONLY)
        self.assertIs(confirm.default, inspect.Parameter.empty)

    def test_every_function_is_typed(self) -> None:
        self.assertTrue((PACKAGE / "py.typed").exists())
        for name in FOURTEEN:
            hints = typing.get_type_hints(getattr(larva, name))
            self.assertEqual({*hints}, {*FOURTEEN[name], "return"}, name)
        self.assertEqual(typing.get_type_hints(larva.list)["return"], typing.List[larva.PersonaSummary])

    def test_list_stays_a_builtin_elsewhere(self) -> None:
        self.assertFalse(hasattr(larva._client, "list"))
        self.assertIs(typing.get_type_hints(larva.Client.export_all)["return"].__origin__, builtins.list)
        for path in PACKAGE.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    self.assertNotEqual(node.func.id, "list", f"{path}:{node.lineno}")
