# Indexes the articles of an encyclopedia: words, their places and their weights.
require 'set'

STOP = Set.new(%w[the of and a to in is was it for on as with by at from])
STEMS = %w[house river city king battle planet music bridge forest engine theory village school island].freeze
TAILS = ['', 's', 'ed', 'ing', 'er', 'like', 'ship'].freeze

class Index
  attr_reader :words

  def initialize
    @words = Hash.new { |h, k| h[k] = [] }
    @lengths = []
  end

  def add(id, text)
    counts = Hash.new(0)
    text.scan(/[a-z]+/) { |w| counts[w.sub(/(s|ed|ing|er)\z/, '')] += 1 unless STOP.include?(w) }
    norm = Math.sqrt(counts.values.sum { |c| c * c })
    counts.each do |w, c|
      places = @words[w]
      places << [id, c / norm]
      places.shift if places.size > 500
    end
    @lengths[id % 1000] = norm
  end
end

def article(random)
  Array.new(300) do
    random.rand(3).zero? ? STOP.first : STEMS[random.rand(STEMS.size)] + TAILS[random.rand(TAILS.size)]
  end.join(' ')
end

index = Index.new
done = 0
Thread.new do
  loop do
    sleep 0.5
    puts "done #{done}"
    $stdout.flush
  end
end
random = Random.new(4)
texts = Array.new(50) { article(random) }
loop do
  index.add(done, texts[done % texts.size])
  done += 1
end
