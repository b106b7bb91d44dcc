"""A stand-in for Azure Blob Storage on loopback: block blobs, over the store and the faults of stand_in.py.

It checks the signature of each request (SharedKey), and speaks GET by ranges with If-Match, HEAD, PUT with If-None-Match,
blocks and their lists, lists of blobs with prefixes and markers, DELETE. Containers are the buckets of the store.
"""
import base64
import email.utils
import hashlib
import hmac
import re
import urllib.parse
from xml.sax.saxutils import escape

from stand_in import Answer, Handler, Server

ACCOUNT, SECRET = "standin", base64.b64encode(b"stand-in-secret-of-azure").decode()


class AzureHandler(Handler):
    def authorize(self):
        sent = self.headers.get("Authorization", "")
        if not sent:
            if getattr(self.store, "private", True):
                raise Answer(401, "NoAuthenticationInformation", "Server failed to authenticate the request.")
            return
        if sent != f"SharedKey {ACCOUNT}:{self.signature()}":
            raise Answer(403, "AuthenticationFailed", "Server failed to authenticate the request.")

    def signature(self):
        """Returns the signature that the request should have, as Azure's documentation defines it."""
        parts = urllib.parse.urlsplit(self.path)
        names = ["Content-Encoding", "Content-Language", "Content-Length", "Content-MD5", "Content-Type", "Date",
                 "If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"]
        values = [self.headers.get(name, "") for name in names]
        values[2] = "" if values[2] == "0" else values[2]
        own = sorted((name.lower(), value.strip()) for name, value in self.headers.items()
                     if name.lower().startswith("x-ms-"))
        query = sorted(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        lines = [self.command, *values, *(f"{name}:{value}" for name, value in own), f"/{ACCOUNT}{parts.path}",
                 *(f"{name.lower()}:{value}" for name, value in query)]
        signed = hmac.new(base64.b64decode(SECRET), "\n".join(lines).encode(), hashlib.sha256).digest()
        return base64.b64encode(signed).decode()

    def s3(self, bucket, key, query, body):
        """Answers a request for a blob or a list of blobs."""
        store, method = self.store, self.command
        if bucket not in store.buckets:
            raise Answer(404, "ContainerNotFound", "The specified container does not exist.")
        comp = query.get("comp")
        if method == "GET" and comp == "list":
            return self.list_blobs(bucket, query)
        if method == "PUT" and comp == "block":
            with store.lock:
                blocks = store.uploads.setdefault(f"{bucket}/{key}", {})
                blocks[query["blockid"]] = body
            return self.answer(201)
        if method == "POST" and comp == "batch":
            return self.batch(body)
        with store.lock:
            item = store.objects.get((bucket, key))
            if method in ("GET", "HEAD", "DELETE") and item is None:
                raise Answer(404, "BlobNotFound", "The specified blob does not exist.")
            if method == "PUT":
                if self.headers.get("If-None-Match") == "*" and item is not None:
                    raise Answer(409, "BlobAlreadyExists", "The specified blob already exists.")
                if comp == "blocklist":
                    body = self.joined(bucket, key, body)
                elif self.headers.get("x-ms-blob-type") != "BlockBlob":
                    raise Answer(400, "MissingRequiredHeader", "x-ms-blob-type")
                store.put(bucket, key, body)
                return self.answer(201, b"", {"ETag": store.objects[bucket, key].tag})
            if method == "DELETE":
                del store.objects[bucket, key]
                return self.answer(202)
        self.content(item)

    def batch(self, body):
        """Answers a batch of DELETE requests, each with a part of its own."""
        parts = []
        for number, path in enumerate(re.findall(rb"\r\nDELETE (\S+) HTTP/1.1\r\n", body)):
            bucket, _, key = urllib.parse.unquote(path.decode().split("?")[0]).lstrip("/").partition("/")
            with self.store.lock:
                there = self.store.objects.pop((bucket, key), None)
            status = "202 Accepted" if there else "404 The specified blob does not exist."
            error = "" if there else "x-ms-error-code: BlobNotFound\r\n"
            parts.append("--batch\r\nContent-Type: application/http\r\nContent-ID: %d\r\n\r\nHTTP/1.1 %s\r\n%s"
                         "x-ms-version: 2018-11-09\r\n\r\n" % (number, status, error))
        self.answer(202, ("".join(parts) + "--batch--").encode(), {"Content-Type": "multipart/mixed; boundary=batch"})

    def joined(self, bucket, key, body):
        blocks = self.store.uploads.pop(f"{bucket}/{key}", {})
        names = re.findall(r"<(?:Latest|Uncommitted)>([^<]*)</", body.decode())
        if any(name not in blocks for name in names) or len({len(name) for name in names}) > 1:
            raise Answer(400, "InvalidBlockList", "The specified block list is invalid.")
        return b"".join(blocks[name] for name in names)

    def list_blobs(self, bucket, query):
        prefix, delimiter, after = query.get("prefix", ""), query.get("delimiter"), query.get("marker", "")
        rows, prefixes, last = [], [], ""
        for key in self.store.keys(bucket, prefix):
            name = key
            if delimiter and delimiter in key[len(prefix):]:
                name = prefix + key[len(prefix):].split(delimiter)[0] + delimiter
            if name <= after or name in prefixes:
                continue
            if len(rows) + len(prefixes) >= self.store.max_keys:
                break
            last = name
            if name != key:
                prefixes.append(name)
                continue
            item = self.store.objects[bucket, key]
            rows.append("<Blob><Name>%s</Name><Properties><Last-Modified>%s</Last-Modified><Etag>%s</Etag>"
                        "<Content-Length>%d</Content-Length><Content-Type>x</Content-Type></Properties></Blob>"
                        % (escape(key), email.utils.formatdate(item.time, usegmt=True), escape(item.tag), len(item.data)))
        else:
            last = ""
        self.answer(200, ("<?xml version='1.0' encoding='utf-8'?><EnumerationResults><Prefix>%s</Prefix><Blobs>%s%s"
                          "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>" % (
                              escape(prefix), "".join(rows),
                              "".join("<BlobPrefix><Name>%s</Name></BlobPrefix>" % escape(p) for p in prefixes),
                              escape(last))).encode())


class AzureServer(Server):
    handler = AzureHandler
