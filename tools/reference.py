#!/usr/bin/env python3
"""Generates the API reference from the headers: one Markdown page per header with each public name and its comment.

    tools/reference.py DIR          writes DIR/README.md and DIR/HEADER.md
    tools/reference.py --silent     lists public names without a comment; exits with 1 if there is any

The parser handles only the style of these headers: a comment is above its declaration or behind it. It omits names that
are private or in a namespace `detail`, and macros such as YUNTI_INLINE. It cuts the bodies of functions and shows the
structs of the C ABI whole.
"""

import os
import re
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = os.path.join(ROOT, "api/include")
# Macros for use inside the headers only.
INNER = re.compile(
    r"^(YUNTI_H|YUNTI_TABLE_H|YUNTI_TABLE_REMOTE_H|YUNTI_INLINE|YUNTI_COLD|YUNTI_LIKELY|YUNTI_UNLIKELY|YUNTI_NOINLINE|YUNTI_EXPORT)$")


@dataclass
class Item:
    name: str
    comment: str
    code: str


def headers():
    folder = os.path.join(INCLUDE, "yunti")
    # The includes of yunti.hpp set the order of the other headers.
    with open(os.path.join(folder, "yunti.hpp")) as f:
        order = re.findall(r'#include "([\w/]+\.hpp)"', f.read())
    there = {os.path.relpath(os.path.join(where, name), folder) for where, _,
             names in os.walk(folder) for name in names}
    rest = sorted(there - set(order) - {"yunti.hpp"})
    return ["yunti.h", "yunti/yunti.hpp"] + [f"yunti/{name}" for name in order + rest]


def read(header):
    """Returns the head comment of a header and its public items."""
    with open(os.path.join(INCLUDE, header)) as f:
        text = f.read()
    head, text = comment_at(text, 0)
    return re.sub(r"\n?SPDX-License-Identifier.*", "", head), list(items(text))


def comment_at(text, at):
    """Returns the comment at a position, without its marks, and the text after it."""
    if text.startswith("/*", at):
        end = text.index("*/", at)
        lines = text[at + 2:end].split("\n")
        return "\n".join(re.sub(r"^ ?\*? ?", "", line).rstrip() if n else line.strip() for n,
                         line in enumerate(lines)), text[end + 2:].lstrip(" ")
    lines = []
    for line in text[at:].split("\n"):
        if not line.lstrip().startswith("//"):
            break
        lines.append(line)
    plain = "\n".join(re.sub(r"^\s*// ?", "", line).rstrip() for line in lines)
    return plain, text[at + sum(len(line) + 1 for line in lines):]


def items(text, inner=False):
    """Yields the items of one scope, including the items of its namespaces."""
    comment, last, near = "", "", False
    while text:
        if text[0] in "\n \t;":
            # A blank line parts a comment from what follows.
            if text.startswith("\n\n"):
                comment, near = "", False
            text = text[1:]
        elif text.startswith(("//", "/*")):
            comment, text = comment_at(text, 0)
            if re.match(r"-{3,}", comment):
                comment = ""
            # The line end after a comment belongs to it.
            text = text[1:] if text.startswith("\n") and not text.startswith("\n\n") else text
        elif text[0] == "#":
            line, text = directive(text)
            if (name := re.match(r"#\s*define (\w+)", line)) and not INNER.match(name[1]):
                behind = re.search(r"(?://|/\*) ?(.*?)(?: \*/)?$", line, re.S)
                last = comment or (behind[1] if behind else last if near else "")
                yield Item(name[1], last, line)
            comment, near = "", True
        elif text[0] == "}":
            text = text[1:]
        else:
            code, body, text = declaration(text)
            behind, text = trailing(text)
            if namespace := re.match(r"(inline )?namespace(?: ([\w:]+))?$", code.strip()):
                if namespace[2] and "detail" not in namespace[2]:
                    yield from items(body)
            elif code.startswith('extern "C"') and body is not None and not code.rstrip().endswith(")"):
                yield from items(body)
            elif name := name_of(code, body):
                # Defines and enums without a blank line between them share the comment of the first.
                last = comment or behind or inside(body) or (last if near and code.startswith("enum") else "")
                yield Item(name, last, shown(code, body))
            comment, near = "", True


def directive(text):
    end = 0
    while True:
        end = text.find("\n", end)
        if end < 0:
            return text, ""
        # A directive continues after a backslash, and to the end of its trailing comment.
        if text[end - 1] != "\\" and text.count("/*", 0, end) == text.count("*/", 0, end):
            return text[:end], text[end:]
        end += 1


def declaration(text):
    """Splits at the `;` or the end of the body: the text before the body, the body or None, the rest."""
    depth, at, begin = 0, 0, None
    while at < len(text):
        if text.startswith("//", at):
            at = text.find("\n", at)
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 1
        elif text[at] in "\"'" and not (text[at] == "'" and text[at - 1].isalnum()):
            quote, at = text[at], at + 1
            while text[at] != quote:
                at += 2 if text[at] == "\\" else 1
        elif text[at] in "([{":
            if text[at] == "{" and depth == 0 and begin is None:
                begin = at
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0 and text[at] == "}":
                # Names may follow a type, and a `;` an initialiser.
                rest = re.match(r"[\s\w,*]*;", text[at + 1:])
                kind = re.match(r"(template\b.*?>\s*)?(typedef |inline constexpr |using |struct|class|enum|union)",
                                text, re.S)
                more = rest.end() if rest and kind else 0
                return text[:begin] + text[at + 1:at + 1 + more].rstrip(";"), text[begin + 1:at], text[at + 1 + more:]
        elif text[at] == ";" and depth == 0:
            return text[:at], None, text[at + 1:]
        at += 1
    return text, None, ""


def trailing(text):
    found = re.match(r"[ ]*(?://|/\*) ?([^\n]*?)(?: ?\*/)?(?=\n)", text)
    return (found[1], text[found.end():]) if found else ("", text)


def inside(body):
    """Returns the comment at the start of a body."""
    found = re.match(r"\s*(//[^\n]*|/\*.*?\*/)", body or "", re.S)
    return re.sub(r"^//\s*|^/\*\s*|\s*\*/$", "", found[1]) if found else ""


def name_of(code, body):
    """Returns the declared name, or None for friends, assertions and specialisations."""
    code = re.sub(r"^template\s*<.*?>\s*(?=struct|class|inline|using|constexpr|YUNTI|auto|\w)", "", code.strip(),
                  count=1, flags=re.S)
    if re.match(r"(static_assert|friend|using namespace|public:|private:|namespace)", code):
        return None
    if found := re.match(r"typedef struct (\w+)", code) or re.match(r"using (\w+) =", code):
        return found[1]
    if found := re.match(r"typedef .*\(\*(\w+)\)", code, re.S) or re.match(r"typedef .*?(\w+)$", code, re.S):
        return found[1]
    if found := re.match(r"(?:struct|class|enum class|enum|union)\s+(?:alignas\(.*?\)\s*)?(\w+)\s*(<)?", code):
        return None if found[2] else found[1]
    if re.match(r"enum\s*$", code):
        return re.search(r"\b(Y(?:T|UNTI)_\w+)", body or "")[1] + " .."
    if found := re.search(r"\b(operator\S+|\w+)\s*\(",
                          re.sub(r"__attribute__\s*\(\(.*?\)\)|decltype\(.*?\)", "", code)):
        return found[1]
    if found := re.search(r"(\w+)\s*(?:\[.*\])?\s*(?:=.*)?$", code, re.S):
        return found[1]
    return None


def shown(code, body):
    code = re.sub(r"\b(YUNTI_INLINE|YUNTI_COLD|YUNTI_NOINLINE)\s+", "", code).strip()
    if body is None:
        return code + ";"
    if re.match(r"(typedef )?(enum|union)|typedef struct", code):
        name = re.search(r"\}?\s*(\w+)$", code)[1] if code.startswith("typedef struct") else None
        return (f"typedef struct {name} {{{body}}} {name};" if name else f"{code} {{{body}}};").replace("\n\n", "\n")
    if re.search(r"\b(struct|class)\s+\w+[^()]*$", code):
        members = public(body, code)
        return f"{code} {{\n{members}}};" if members else f"{code};"
    # For a function, omit the body and the initialisers.
    return re.sub(r"\)\s*:\s.*$", ")", code, flags=re.S) + ";"


def public(body, code):
    """Returns the public members of a class, each with its comment and without its body."""
    out, visible = [], "class" not in code.split("{")[0].split(":")[0].split(">")[-1]
    text, comment = body, ""
    while text.strip():
        text = text.lstrip("\n ")
        if found := re.match(r"(public|private|protected):", text):
            visible, text, comment = found[1] == "public", text[found.end():], ""
        elif text.startswith(("//", "/*")):
            comment, text = comment_at(text, 0)
        elif text[0] == "#":
            _, text = directive(text)
        elif text[0] in ";}":
            text = text[1:]
        else:
            member, inner, text = declaration(text)
            behind, text = trailing(text)
            if visible and not re.match(r"(static_assert|friend)", member):
                out += [f"  // {line}" for line in comment.split("\n") if line]
                if inner is None or "(" in member:
                    line = shown(member, inner)
                else:
                    line = f"{re.sub(chr(10) + ' *', ' ', member).strip()};"
                out.append("  " + line.replace("\n", "\n  ") + (f"  // {behind}" if behind else ""))
            comment = ""
    return "".join(line + "\n" for line in out)


def page(header, head, found):
    language = "c" if header.endswith(".h") else "cpp"
    out = [f"# {header}", "", "```text", head.strip(), "```", ""]
    for item in merged(found):
        out += [f"## {item.name}", ""]
        out += [item.comment.strip(), ""] if item.comment else []
        out += [f"```{language}", item.code, "```", ""]
    return "\n".join(out)


def merged(found):
    """Returns the items with overloads merged under one name."""
    by_name = {}
    for item in found:
        if item.name in by_name:
            first = by_name[item.name]
            both = "\n\n".join(c for c in (first.comment, item.comment) if c)
            by_name[item.name] = Item(item.name, both, first.code + "\n" + item.code)
        else:
            by_name[item.name] = item
    return by_name.values()


def main():
    pages = {header: read(header) for header in headers()}
    silent = [f"{header}: {item.name}" for header,
              (head, found) in pages.items() for item in merged(found) if not item.comment]
    silent += [header for header, (head, _) in pages.items() if not head]
    if sys.argv[1:] == ["--silent"]:
        print("\n".join(silent))
        return 1 if silent else 0
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    index = ["# API reference", "",
             "Generated from the comments of the headers. The guide explains how to write a class.", "",
             "| header | declares |", "|---|---|"]
    for header, (head, found) in pages.items():
        name = os.path.basename(header) + ".md"
        index.append(f"| [{header}]({name}) | {', '.join(f'`{item.name}`' for item in merged(found))} |")
        with open(os.path.join(folder, name), "w") as f:
            f.write(page(header, head, found))
    with open(os.path.join(folder, "README.md"), "w") as f:
        f.write("\n".join(index) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
