# Checks boarding passes for the gates of an airport.
require 'socket'

Passenger = Struct.new(:seat, :boarded)
passengers = Hash.new { |h, k| h[k] = Passenger.new("#{k / 6 + 1}#{'ABCDEF'[k % 6]}", 0) }
lock = Mutex.new

server = Socket.new(:INET, :STREAM)
server.setsockopt(:SOCKET, :REUSEADDR, true)
server.bind(Addrinfo.tcp('127.0.0.1', ARGV[0].to_i))
server.listen(ARGV[1].to_i)

loop do
  client, = server.accept
  Thread.new(client) do |c|
    _, number = c.gets.to_s.split
    seat = lock.synchronize do
      p = passengers[number.to_i]
      p.boarded += 1
      p.seat
    end
    c.write("BOARD #{seat}\n")
  rescue SystemCallError
    nil
  ensure
    c.close
  end
end
