"""Values of events: a shape such as "a(id:x,title:?s)" or "[idle,printing(page:i)]", and the bytes that it or a layout
describes.

Written from docs/internals/PROTOCOL.md ("Types", "The annotation org.eventrelay.Fields") and docs/internals/RING.md ("The event list").
"""
import struct

# The codes of Python's struct for each D-Bus type; a size is an alignment, too.
BASIC = dict(zip("ybnqiuxtdhs", "BIhHiIqQdII"))


def parse_shape(text, depth=0):
    """The first shape in `text` as a tree, and what is behind it."""
    head, rest = text[:1], text[1:]
    if depth > 64:
        raise ValueError("a shape is nested too deeply")
    if head in BASIC:
        return head, rest
    if head == "a" and rest[:1] == "{":
        key, rest = parse_shape(rest[1:], depth + 1)
        value, rest = parse_shape(rest, depth + 1)
        return ("{", key, value), rest[1:]
    if head in ("a", "?"):
        element, rest = parse_shape(rest, depth + 1)
        return (head, element), rest
    if head == "[":
        return parse_cases(rest, depth)
    if head != "(":
        raise ValueError(f"no shape: {text!r}")
    fields = []
    while rest[:1] != ")":
        name, _, rest = rest.removeprefix(",").partition(":")
        kind, rest = parse_shape(rest, depth + 1)
        fields.append((name.partition("|")[0], kind))
    return ("(", fields), rest[1:]


def parse_cases(text, depth):
    """The cases of an enum, by their names: the fields of each payload."""
    cases = {}
    while text[:1] != "]":
        text = text.removeprefix(",")
        end = next((i for i, c in enumerate(text) if c in ",(]"), None)
        if end is None:
            raise ValueError("the cases of an enum do not end")
        name, text = text[:end], text[end:]
        (_, cases[name]), text = parse_shape(text, depth + 1) if text[0] == "(" else (("(", []), text)
    return ("[", cases), text[1:]


def named(value, kind):
    """A structure as a dictionary, an optional as its value or None, an enum as "idle" or {"printing": {"page": 3}}."""
    if kind[0] == "[":
        case, payload = value
        fields = kind[1].get(case)
        return {case: named(payload, ("(", fields)) if fields else payload} if fields != [] else case
    if kind[0] == "?":
        return named(value[0], kind[1]) if value else None
    if kind[0] == "a":
        return [named(element, kind[1]) for element in value]
    if kind[0] == "{":
        return {key: named(element, kind[2]) for key, element in value.items()}
    if kind[0] == "(":
        return {name: named(element, field) for (name, field), element in zip(kind[1], value)}
    return value


def unnamed(value, kind, variant):
    """The opposite of `named`: what GLib.Variant takes for the signature of the shape.

    `variant` makes a variant of a signature and a value: GLib.Variant.
    """
    if kind[0] == "[":
        (case, payload), = value.items() if isinstance(value, dict) else {value: None}.items()
        fields = ("(", kind[1][case])
        return case, variant(signature(fields), unnamed(payload, fields, variant)) if fields[1] else variant("y", 0)
    if kind[0] == "?":
        return [] if value is None else [unnamed(value, kind[1], variant)]
    if kind[0] == "a":
        return [unnamed(element, kind[1], variant) for element in value]
    if kind[0] == "{":
        return {key: unnamed(element, kind[2], variant) for key, element in value.items()}
    if kind[0] == "(":
        return tuple(unnamed((value or {}).get(name), field, variant) for name, field in kind[1])
    return value


def signature(kind):
    """A shape without names."""
    if isinstance(kind, str):
        return kind
    if kind[0] == "[":
        return "(sv)"
    if kind[0] == "(":
        return "(" + "".join(signature(field) for _, field in kind[1]) + ")"
    if kind[0] == "{":
        return "a{" + signature(kind[1]) + signature(kind[2]) + "}"
    return "a" + signature(kind[1])


def alignment(kind):
    if kind[0] in "([":
        return 8
    return struct.calcsize(BASIC[kind]) if isinstance(kind, str) else 4


class WireReader:
    """The D-Bus wire format, little-endian, as a ring's payload has it: aligned from its first byte."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def align(self, size):
        self.at = -(-self.at // size) * size

    def number(self, code):
        size = struct.calcsize(code)
        self.align(size)
        value, = struct.unpack_from("<" + code, self.data, self.at)
        self.at += size
        return value

    def value(self, kind):
        if kind == "s":
            length = self.number("I")
            self.at += length + 1
            if self.at > len(self.data):
                raise ValueError("a string ends behind its payload")
            return self.data[self.at - length - 1:self.at - 1].decode()
        if isinstance(kind, str):
            return bool(self.number("I")) if kind == "b" else self.number(BASIC[kind])
        if kind[0] == "(":
            self.align(8)
            return tuple(self.value(field) for _, field in kind[1])
        if kind[0] == "[":
            return self.case(kind[1])
        length, elements = self.number("I"), []
        self.align(alignment(kind[1] if kind[0] != "{" else ("(", [])))
        end = self.at + length
        if end > len(self.data):
            raise ValueError("an array ends behind its payload")
        while self.at < end:
            if kind[0] == "{":
                self.align(8)
                elements.append((self.value(kind[1]), self.value(kind[2])))
            else:
                elements.append(self.value(kind[1]))
        return dict(elements) if kind[0] == "{" else elements

    def case(self, cases):
        self.align(8)
        name = self.value("s")
        length = self.number("B")
        self.at += length + 1
        text = self.data[self.at - length - 1:self.at - 1].decode()
        fields = ("(", cases[name])
        if not fields[1]:
            return name, self.value(text)
        if text != signature(fields):
            raise ValueError(f"the case {name} has {text}")
        return name, self.value(fields)


def parse_layout(text):
    """The layout of raw bytes: the format for Python's struct, and what makes named values of the numbers."""
    form, makers = "", []
    while text and text[0] != ")":
        name, _, text = text.removeprefix(",").partition(":")
        if text[0] == "(":
            inner, make, text = parse_layout(text[1:])
            form, text = form + inner, text[1:]
        else:
            end = next((i for i, c in enumerate(text) if c in ",)"), len(text))
            (kind, _, count), text = text[:end].partition("*"), text[end:]
            code = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "f4": "f", "f8": "d",
                    "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}[kind]
            form += code * int(count or 1)
            make = (lambda n: lambda numbers: [next(numbers) for _ in range(n)])(int(count)) if count else next
        makers.append((name, make))
    return form, lambda numbers: {name: make(numbers) for name, make in makers}, text
