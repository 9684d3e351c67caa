"""docs/settings.md names every environment variable that the code reads, with its default, and no other."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
READERS = ("text", "flag", "number", "names", "secret", "one_of")
TORCHRUN = ("RANK", "WORLD_SIZE")
"""Set by torchrun for the processes it starts, never by people."""
ROW = re.compile(r"^\| `([A-Z_]+)` \|(?: `([^`]*)` \||( )\|)? (.+) \|$", re.MULTILINE)


def written(node, constants):  # noqa: PLR0911 one return a kind of node
    """A default as the page writes it: folders by their names, paths with slashes."""
    match node:
        case ast.Constant(value=bool(value)):
            return str(int(value))
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name) if name in constants:
            return written(constants[name], constants)
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            return f"{written(left, constants)}/{written(right, constants)}"
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return written(inner, constants)
        case ast.JoinedStr(values=parts):
            return "".join(written(part, constants) for part in parts)
        case ast.FormattedValue(value=inner):
            return written(inner, constants)
        case _:
            return ast.unparse(node)


def default_of(reader, call, constants):
    keyword = next((word.value for word in call.keywords if word.arg == "default"), None)
    given = call.args[1] if len(call.args) > 1 else keyword
    if given is None:
        return {"flag": "0", "names": "", "text": ""}.get(reader)
    return written(given, constants)


def reads_of(tree):
    """Each read of a variable in a module: its name and its default, None where there is none."""
    assigned = [
        node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    known = ("VAR_DIR", "BASE_DIR")
    constants = {node.targets[0].id: node.value for node in assigned if node.targets[0].id not in known}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = ast.unparse(call.func)
        reader = function.removeprefix("env.")
        if function not in (*(f"env.{name}" for name in READERS), "os.environ.get", "os.getenv"):
            continue
        name = written(call.args[0], constants)
        if name.isupper():
            yield name, default_of(reader, call, constants)


def in_the_code():
    found = {}
    for package in ("badcollect", "annotations", "bots"):
        for file in sorted((ROOT / package).rglob("*.py")):
            if file.name == "env.py":
                continue
            for name, default in reads_of(ast.parse(file.read_text())):
                if name not in TORCHRUN:
                    found.setdefault(name, set()).add(default)
    return found


def on_the_page():
    text = (ROOT / "docs" / "settings.md").read_text()
    ours, _, theirs = text.partition("## Read by what we run")
    return (
        {name: default or "" for name, default, _, _ in ROW.findall(ours)},
        {name for name, _, _, _ in ROW.findall(theirs)},
    )


def test_the_page_names_what_the_code_reads():
    assert sorted(on_the_page()[0]) == sorted(in_the_code())


def test_the_page_tells_the_defaults():
    told, _ = on_the_page()
    found = {name: {default or "" for default in defaults} for name, defaults in in_the_code().items()}
    # A second reader may leave the default to the first.
    assert {name: defaults - {""} or {""} for name, defaults in found.items()} == {
        name: {default} for name, default in told.items()
    } | {"BADCOLLECT_ALLOW_INTERNAL_BOTS": {"0"}}


def test_no_variable_is_on_the_page_twice():
    ours, theirs = on_the_page()
    assert ours.keys() & theirs == set()
