// FASTA files, the format of biological sequences, as input and output of jobs: a custom reader and writer.
//
//   >name of a sequence
//   ACGTACGT..
//   ACGT
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

#include <string>

namespace {

// Reader: each sequence is one record, with its name as the key and its letters, without line ends, as the value.
struct Reader : yunti::Reader<yunti::Bytes, yunti::Bytes> {
  // A record begins at a '>' that begins a line, so find() needs the byte before the cut.
  static constexpr uint32_t look_back = 1;

  size_t find(const yunti::Chunk& chunk) {
    if (chunk.cut == 0 && chunk.first) return 0;
    const size_t end = chunk.text.find("\n>", chunk.cut - 1);
    if (end != std::string_view::npos) return end + 1;
    // Not before the limit either: this split has no record, and more bytes do not help.
    return chunk.text.size() > chunk.limit ? static_cast<size_t>(chunk.limit) : yunti::kMore;
  }

  size_t read(const yunti::Chunk& chunk, Out& out) {
    size_t at = 0;
    while (at < chunk.owned()) {
      if (chunk.text[at] != '>') yunti::fail("a sequence does not begin with '>'");
      size_t end = chunk.text.find("\n>", at);
      if (end == std::string_view::npos && !chunk.last) break;
      end = end == std::string_view::npos ? chunk.text.size() : end + 1;
      emit(chunk.text.substr(at + 1, end - at - 1), out);
      at = end;
    }
    return at;
  }

  void emit(std::string_view record, Out& out) {
    std::string_view name;
    letters.clear();
    bool first = true;
    yunti::lines(record, [&](std::string_view line) {
      if (first) {
        name = line;
      } else {
        letters += line;
      }
      first = false;
    });
    out.emit(name, letters);
  }

  std::string letters;
};

// Writer of that format, in lines of 60 letters (-D fasta.width=N).
struct Writer : yunti::Writer<yunti::Bytes, yunti::Bytes> {
  static constexpr const char* extension = ".fa";

  explicit Writer(yunti::Context& context) {
    const auto wanted = yunti::parse_i64(context.config("fasta.width", "60"));
    if (!wanted || *wanted < 1) context.fail("fasta.width must be a number of letters above 0");
    width = static_cast<size_t>(*wanted);
  }

  void write(std::string_view name, std::string_view letters, yunti::Sink& out) {
    out.put('>').put(name).put('\n');
    for (size_t at = 0; at < letters.size(); at += width) out.put(letters.substr(at, width)).put('\n');
  }

  size_t width;
};

// Mapper to the other strand: each letter's counterpart, from the end to the beginning.
struct ReverseComplement : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  void map(std::string_view name, std::string_view letters, Out& out) {
    strand.assign(letters.rbegin(), letters.rend());
    for (char& letter : strand) letter = other(letter);
    out.emit(name, strand);
  }

  static char other(char letter) {
    switch (letter) {
      case 'A': return 'T';
      case 'C': return 'G';
      case 'G': return 'C';
      case 'T': return 'A';
      default: return letter;
    }
  }

  std::string strand;
};

}  // namespace

YUNTI_LIBRARY("Fasta", "1.0", yunti::reader<Reader>("Fasta.Reader"), yunti::writer<Writer>("Fasta.Writer"),
              yunti::mapper<ReverseComplement>("Fasta.ReverseComplement"))
