"""Where scripts written for larva's Python edition look: larva.shell.python_api."""
