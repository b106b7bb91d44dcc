# Counts votes: a thread for each polling station.
require 'socket'

counts = Hash.new(0)
lock = Mutex.new
server = TCPServer.new('127.0.0.1', ARGV[0].to_i)
Thread.new do
  loop do
    sleep 1
    lock.synchronize { counts.delete_if { |_, n| n < 0 } }
  end
end
loop do
  Thread.new(server.accept) do |s|
    s.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = s.gets)
      who = line.split[1]
      n = lock.synchronize { counts[who] += 1 }
      s.puts "counted #{n}"
    end
  end
end
