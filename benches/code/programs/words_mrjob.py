"""Word count by mrjob, as its documentation has it."""

from mrjob.job import MRJob
from mrjob.protocol import TextProtocol


class Words(MRJob):
    OUTPUT_PROTOCOL = TextProtocol  # the output of all others; the steps between keep mrjob's own form

    def mapper(self, _, line):
        for word in line.split():
            yield word, 1

    def reducer(self, word, counts):
        yield word, str(sum(counts))


if __name__ == "__main__":
    Words.run()
