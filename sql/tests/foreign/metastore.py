"""A stand-in for a Hive metastore: Thrift's binary protocol, written from the numbers in hive_metastore.thrift.

A table is a dictionary: `columns` and `keys` are pairs of name and type; `partitions` are pairs of values and storage.
The server notes each call, so that a test sees what a query has asked for.
"""

import re
import socket
import struct
import threading

TEXT = "org.apache.hadoop.mapred.TextInputFormat"
SERDES = {
    "text": (TEXT, "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
    "csv": (TEXT, "org.apache.hadoop.hive.serde2.OpenCSVSerde"),
    "json": (TEXT, "org.apache.hive.hcatalog.data.JsonSerDe"),
    "sequence": ("org.apache.hadoop.mapred.SequenceFileInputFormat",
                 "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
    "parquet": ("org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
                "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"),
    "orc": ("org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", "org.apache.hadoop.hive.ql.io.orc.OrcSerde"),
    "avro": ("org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
             "org.apache.hadoop.hive.serde2.avro.AvroSerDe"),
    "rc": ("org.apache.hadoop.hive.ql.io.RCFileInputFormat", "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"),
}


class Missing(Exception):
    """There is no such object."""


class Refused(Exception):
    """The metastore cannot do this."""


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack(">i", len(data)) + data


def field(kind, number, value):
    return struct.pack(">bh", kind, number) + value


def struct_of(*fields):
    return b"".join(fields) + b"\0"


def list_of(kind, values):
    return struct.pack(">bi", kind, len(values)) + b"".join(values)


def map_of(pairs):
    return struct.pack(">bbi", 11, 11, len(pairs)) + b"".join(text(k) + text(v) for k, v in pairs.items())


def schema(pairs):
    return list_of(12, [struct_of(field(11, 1, text(name)), field(11, 2, text(kind))) for name, kind in pairs])


def storage(columns, location, format, parameters=None):
    input_format, serde = SERDES[format]
    info = struct_of(field(11, 2, text(serde)), field(13, 3, map_of(parameters or {})))
    return struct_of(field(15, 1, schema(columns)), field(11, 2, text(location)), field(11, 3, text(input_format)),
                     field(2, 5, b"\0"), field(8, 6, struct.pack(">i", -1)), field(12, 7, info),
                     field(15, 8, list_of(11, [])), field(13, 10, map_of({})))


class Metastore:
    """Serves `databases`, by name dictionaries of tables, on a port of this machine."""

    def __init__(self, databases, framed=False, old=True, answer=None, can_filter=True):
        self.databases, self.framed, self.old, self.can_filter = databases, framed, old, can_filter
        #: Bytes that every call gets for an answer, to try damaged ones.
        self.answer = answer
        self.calls = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.catalog = f"hive:thrift://127.0.0.1:{self._server.getsockname()[1]}" + ("?framed=true" if framed else "")
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._server.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rwb") as stream:
            while True:
                if self.framed and not stream.read(4):
                    return
                head = stream.read(4)
                if len(head) < 4:
                    return
                name = stream.read(struct.unpack(">i", stream.read(4))[0]).decode()
                sequence = stream.read(4)
                arguments = self._struct(stream)
                self.calls.append((name, *arguments.values()))
                if self.answer is not None:
                    stream.write(self.answer)
                    stream.flush()
                    return
                kind, body = 2, b""
                try:
                    method = getattr(self, name, None)
                    if method is None or (name == "get_table" and not self.old):
                        kind = 3
                        body = struct_of(field(11, 1, text(f"Invalid method name: '{name}'")),
                                         field(8, 2, struct.pack(">i", 1)))
                    else:
                        body = struct_of(method(*arguments.values()))
                except Missing as e:
                    body = struct_of(field(12, 2, struct_of(field(11, 1, text(f"{e} table not found")))))
                except Refused as e:
                    body = struct_of(field(12, 1, struct_of(field(11, 1, text(str(e))))))
                message = b"\x80\x01\0" + bytes([kind]) + text(name) + sequence + body
                stream.write((struct.pack(">i", len(message)) if self.framed else b"") + message)
                stream.flush()

    def _struct(self, stream):
        fields = {}
        while True:
            (kind,) = stream.read(1)
            if kind == 0:
                return fields
            (number,) = struct.unpack(">h", stream.read(2))
            fields[number] = self._value(stream, kind)

    def _value(self, stream, kind):
        if kind == 11:
            return stream.read(struct.unpack(">i", stream.read(4))[0]).decode()
        if kind == 6:
            return struct.unpack(">h", stream.read(2))[0]
        assert kind == 12, kind
        return self._struct(stream)

    def _table(self, database, name):
        try:
            return self.databases[database][name]
        except KeyError:
            raise Missing(f"{database}.{name}") from None

    def get_all_databases(self):
        return field(15, 0, list_of(11, [text(name) for name in self.databases]))

    def get_all_tables(self, database):
        return field(15, 0, list_of(11, [text(name) for name in self.databases.get(database, {})]))

    def _get(self, database, name):
        table = self._table(database, name)
        if "view" in table:
            rows = storage([], "", "text")
            return struct_of(field(11, 1, text(name)), field(12, 7, rows), field(11, 11, text(table["view"])),
                             field(11, 12, text("VIRTUAL_VIEW")))
        rows = storage(table["columns"], table["location"], table["format"], table.get("serde"))
        return struct_of(field(11, 1, text(name)), field(11, 2, text(database)), field(12, 7, rows),
                         field(15, 8, schema(table.get("keys", []))), field(13, 9, map_of(table.get("parameters", {}))),
                         field(11, 12, text("EXTERNAL_TABLE")))

    def get_table(self, database, name):
        return field(12, 0, self._get(database, name))

    def get_table_req(self, request):
        return field(12, 0, struct_of(field(12, 1, self._get(request[1], request[2]))))

    def _partitions(self, table, wanted):
        parts = []
        for values, location, *format in table["partitions"]:
            if wanted(dict(zip([name for name, _ in table["keys"]], values))):
                rows = storage(table["columns"], location, format[0] if format else table["format"], table.get("serde"))
                parts.append(struct_of(field(15, 1, list_of(11, [text(v) for v in values])), field(12, 6, rows)))
        return field(15, 0, list_of(12, parts))

    def get_partitions(self, database, name, most):
        return self._partitions(self._table(database, name), lambda values: True)

    def get_partitions_by_filter(self, database, name, condition, most):
        if not self.can_filter:
            raise Refused("Filtering is supported only on partition keys of type string\n\tat a.b.C(D.java:1)")
        python = re.sub(r"(\w+) (=|!=|<=?|>=?) (\"[^\"]*\"|-?\d+)",
                        lambda m: f"(values['{m[1]}'] != '__HIVE_DEFAULT_PARTITION__' and "
                                  f"{'str' if m[3].startswith(chr(34)) else 'int'}(values['{m[1]}']) "
                                  f"{'==' if m[2] == '=' else m[2]} {m[3]})", condition)
        return self._partitions(self._table(database, name), lambda values: eval(python, {"values": values}))
