# frozen_string_literal: true

# Sorts the letters of a box into the drawers of the archive.
require_relative 'letter'

class Archive
  attr_reader :filed

  def initialize(box, how)
    @box = box
    @how = how
    @drawers = Hash.new { |h, k| h[k] = [] }
    @filed = 0
  end

  def file(path)
    facts = Letter.new(path, @how).facts
    drawer = "#{facts[:day]}-#{facts[:size] / 1000}"
    @drawers[drawer] << [File.basename(path), facts[:sum]]
    @drawers[drawer].shift while @drawers[drawer].size > 50
    @filed += 1
  end

  def work
    loop do
      Dir.glob(File.join(@box, '*.tif')).sort.each { |p| file(p) }
    end
  end
end

$stdout.sync = true
archive = Archive.new(ARGV[0], ARGV[1].to_sym)
Thread.new do
  loop do
    sleep 0.5
    puts "total #{archive.filed}"
  end
end
puts 'ready'
archive.work
