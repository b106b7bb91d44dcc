# Mailing run: letters of the day to the relay.
require 'net/http'

PORT = ARGV[0].to_i
$sent = 0
$again = 0
LOCK = Mutex.new

class Relay
  def initialize
    open
  end

  def open
    @http = Net::HTTP.new('127.0.0.1', PORT)
    @http.open_timeout = 1
    @http.read_timeout = 1
    @http.max_retries = 0
    @http.start
  end

  def post(to, text)
    tries = 0
    begin
      r = @http.post("/send/#{to}", text)
      raise "relay says #{r.code}" unless r.code == '200'
    rescue Net::ReadTimeout, Net::OpenTimeout, IOError, SystemCallError
      tries += 1
      LOCK.synchronize { $again += 1 }
      begin
        @http.finish
      rescue IOError
        nil
      end
      open
      retry if tries < 5
    end
  end
end

def letter(n)
  lines = ["Dear member #{n},", '']
  40.times { |i| lines << "offer #{i}: #{(n * 31 + i * 7) % 1000} points" }
  lines.join("\r\n")
end

3.times do |w|
  Thread.new do
    relay = Relay.new
    w.step(by: 3) do |n|
      relay.post("member#{n}", letter(n))
      LOCK.synchronize { $sent += 1 }
    end
  end
end
$stdout.sync = true
loop do
  sleep 1
  puts "done #{$sent} again #{$again}"
end
