"""Monitoring agent: asks a JVM by its attach socket for the classes in its heap and keeps the top ones."""
import os
import signal
import socket
import sys
import time

pid = int(sys.argv[1])
path = '/tmp/.java_pid%d' % pid
flag = '/proc/%d/cwd/.attach_pid%d' % (pid, pid)
time.sleep(3)
open(flag, 'w').close()
os.kill(pid, signal.SIGQUIT)
while not os.path.exists(path):
    time.sleep(0.1)
if os.path.exists(flag):
    os.unlink(flag)
top = []
while True:
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b'1\0jcmd\0GC.class_histogram\0\0\0')
        text = b''
        while True:
            d = s.recv(65536)
            if not d:
                break
            text += d
    top = text.decode(errors='replace').splitlines()[3:13]
    time.sleep(0.1)
