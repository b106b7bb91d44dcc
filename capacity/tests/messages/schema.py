"""Checks a document against a JSON schema, as far as the schemas of docs/formats use the language."""

TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool, "integer": int,
         "number": (int, float)}


def _is(value, name):
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))


def errors(value, schema, root, place="$", exact=True):
    """Returns what is wrong. A field of an object that its schemas do not name is wrong too, if `exact`."""
    if "$ref" in schema:
        return errors(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, place, exact)
    if "anyOf" in schema:
        found = [errors(value, one, root, place, exact) for one in schema["anyOf"]]
        return [] if [] in found else max(found, key=len)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(_is(value, name) for name in names):
        return [f"{place}: {value!r} is no {' or '.join(names)}"]
    wrong = []
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{place}: {value!r}")
    if _is(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        wrong.append(f"{place}: {value} is out of range")
    for one in schema.get("allOf", []):
        wrong += errors(value, one, root, place, exact=False)
    if isinstance(value, dict):
        known = fields(schema, root)
        wrong += [f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value]
        wrong += [f"{place}.{name} is unknown" for name in value if exact and name not in known]
        for name, of in schema.get("properties", {}).items():
            if name in value:
                wrong += errors(value[name], of, root, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, each in enumerate(value):
            wrong += errors(each, schema["items"], root, f"{place}[{i}]")
    return wrong


def fields(schema, root):
    """Returns the names of all fields of an object."""
    if "$ref" in schema:
        return fields(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    names = set(schema.get("properties", {}))
    for one in schema.get("allOf", []):
        names |= fields(one, root)
    return names
