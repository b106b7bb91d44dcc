"""The branches of a library: each keeps a connection.

A few of them ask for the loans of a week, the others wait for readers."""
import random
import sys
import threading
import time

import psycopg

port = int(sys.argv[1])
done = 0


def connect():
    return psycopg.connect(f"host=127.0.0.1 port={port} user=app dbname=postgres", autocommit=True)


def branch(conn, seed):
    rnd = random.Random(seed)
    while True:
        start = rnd.randrange(190000)
        conn.execute("select branch, count(*), sum(days) from loan where id between %s and %s "
                     "group by branch order by 2", (start, start + 6000)).fetchall()
        if seed == 0:
            global done
            done += 1


main = connect()
main.execute("create table loan (id int primary key, branch int, days int)")
main.execute("insert into loan select n, n % 31, n % 28 from generate_series(1, 200000) n")
main.execute("vacuum analyze loan")
idle = [connect() for _ in range(30)]
desk = connect()
print("backend", desk.info.backend_pid, flush=True)
for k, conn in enumerate([desk, connect()]):
    threading.Thread(target=branch, args=(conn, k), daemon=True).start()
while True:
    time.sleep(0.2)
    print("answers", done, flush=True)
