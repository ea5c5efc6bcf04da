"""What is refused before anything is sent, and what keeps its form."""

import enum
import types
import unittest

import larva
from larva._value import plain, strings


class Colour(str, enum.Enum):
    RED = "red"


class TestPlain(unittest.TestCase):
    def test_kept(self) -> None:
        deep: object = 1
        for _ in range(150):
            deep = [deep]
        for value, want in [
            (None, None),
            (True, True),
            (1, 1),
            (1.0, 1.0),
            (-0.0, -0.0),
            (10**40, 10**40),
            ((1, "two"), [1, "two"]),
            (types.MappingProxyType({"a": ()}), {"a": []}),
            (Colour.RED, "red"),
            ("snow \u2603 \U0001f30a", "snow \u2603 \U0001f30a"),
            (deep, deep),
        ]:
            with self.subTest(value=str(value)[:40]):
                got = plain(value, "spec")
                self.assertEqual(got, want)
                self.assertEqual(repr(got), repr(want))

    def test_refused(self) -> None:
        loop: list = []
        loop.append(loop)
        for value, says in [
            (float("nan"), "spec: nan is no number in JSON"),
            ({"a": {"b": [0, float("inf")]}}, "spec.a.b[1]: inf is no number in JSON"),
            (-float("inf"), "spec: -inf is no number in JSON"),
            ({1: "x"}, "spec: the key 1 is no string"),
            ({None: "x"}, "spec: the key None is no string"),
            ({"a": {1, 2}}, "spec.a: set has no form in JSON"),
            (b"bytes", "spec: bytes has no form in JSON"),
            (1j, "spec: complex has no form in JSON"),
            ("\ud800", "spec: holds a lone surrogate"),
            ({"\udfff": 1}, "spec: holds a lone surrogate"),
            (loop, "spec"),
        ]:
            with self.subTest(says=says):
                with self.assertRaises(ValueError) as caught:
                    plain(value, "spec")
                self.assertTrue(str(caught.exception).startswith(says), str(caught.exception))

    def test_ids(self) -> None:
        self.assertEqual(strings(i for i in ("a", "b")), ["a", "b"])
        self.assertEqual(strings("abc"), "abc")
        self.assertEqual(strings(7), 7)


class TestRefusedBeforeSending(unittest.TestCase):
    def test_no_child_is_started(self) -> None:
        client = larva.Client("/there/is/no/larva")
        for call, details in [
            (
                lambda: client.register({"id": "x", "model_params": {"temperature": float("nan")}}),
                {
                    "operation": "register",
                    "field": "spec",
                    "reason": "spec.model_params.temperature: nan is no number in JSON",
                },
            ),
            (
                lambda: client.update("x", {1: 2}),  # type: ignore[dict-item]
                {"operation": "update", "field": "patches", "reason": "patches: the key 1 is no string"},
            ),
        ]:
            with self.assertRaises(larva.LarvaApiError) as caught:
                call()
            self.assertEqual((caught.exception.code, caught.exception.numeric_code), ("INVALID_INPUT", 1))
            self.assertEqual(caught.exception.details, details)
