# frozen_string_literal: true

require 'zlib'

# One scanned letter.
class Letter
  def initialize(path, how)
    @path = path
    @how = how
  end

  def facts
    @how == :own ? by_ruby : by_tools
  end

  private

  def by_tools
    size = `stat -c %s #{@path}`.to_i
    sum = `cksum #{@path}`.split.first.to_i
    day = `date -r #{@path} +%Y-%m-%d`.strip
    { size: size, sum: sum, day: day }
  end

  def by_ruby
    s = File.stat(@path)
    { size: s.size, sum: Zlib.crc32(File.binread(@path)), day: s.mtime.strftime('%Y-%m-%d') }
  end
end
