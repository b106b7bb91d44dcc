"""A first job without NumPy: first_job_plain.py INPUT"""

import sys

import yunti as y

if __name__ == "__main__":
    print(y.read(sys.argv[1], quiet=True).flat_map(bytes.split).count().top(3).to_list())
