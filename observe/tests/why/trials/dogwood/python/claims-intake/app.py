"""Takes in the claims of an insurance: a claim is stored once the register of frauds has had its say."""
import os
import sys
import threading

import requests
import waitress
from flask import Flask, jsonify, request
from psycopg_pool import ConnectionPool

PORT, DATABASE, REGISTER, PLAN = sys.argv[1:5]
app = Flask(__name__)
pool = ConnectionPool(f"host=127.0.0.1 port={DATABASE} user=app dbname=postgres", min_size=3, max_size=3, timeout=60,
                      open=True)
local = threading.local()


def score(claim):
    if not hasattr(local, "http"):
        local.http = requests.Session()
        local.http.trust_env = False
    reply = local.http.post(f"http://127.0.0.1:{REGISTER}/score", json=claim, timeout=30)
    return reply.json()["score"]


def policy_of(conn, claim):
    row = conn.execute("select id, cover from policy where number = %s", (claim["policy"],)).fetchone()
    if row is None:
        raise KeyError(claim["policy"])
    return row


def store(conn, policy, claim, points):
    return conn.execute("insert into claim (policy, amount, score) values (%s, %s, %s) returning id",
                        (policy, claim["amount"], points)).fetchone()[0]


def intake(claim):
    if PLAN == "b":
        points = score(claim)
        with pool.connection() as conn:
            policy, cover = policy_of(conn, claim)
            return store(conn, policy, claim, points), claim["amount"] <= cover
    with pool.connection() as conn:
        policy, cover = policy_of(conn, claim)
        points = score(claim)
        return store(conn, policy, claim, points), claim["amount"] <= cover


@app.post("/claims")
def claims():
    number, covered = intake(request.get_json())
    return jsonify(number=number, covered=covered)


def prepare():
    with pool.connection() as conn:
        conn.execute("create table policy (id serial primary key, number text unique, cover int)")
        conn.execute("create table claim (id serial primary key, policy int, amount int, score int)")
        conn.execute("insert into policy (number, cover) select 'P' || n, 900 + n from generate_series(1, 3000) n")


if __name__ == "__main__":
    prepare()
    waitress.serve(app, host="127.0.0.1", port=int(PORT), threads=20)
