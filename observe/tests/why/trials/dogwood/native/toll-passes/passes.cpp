// Looks up the balance of toll passes: a listener takes datagrams, a crew of threads answers them.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Request {
  sockaddr_in from;
  std::string pass;
};

class Inbox {
 public:
  void put(Request r) {
    {
      std::lock_guard<std::mutex> hold(mu_);
      waiting_.push_back(std::move(r));
    }
    some_.notify_one();
  }
  Request take() {
    std::unique_lock<std::mutex> hold(mu_);
    some_.wait(hold, [this] { return !waiting_.empty(); });
    Request r = std::move(waiting_.front());
    waiting_.pop_front();
    return r;
  }

 private:
  std::mutex mu_;
  std::condition_variable some_;
  std::deque<Request> waiting_;
};

class Balances {
 public:
  Balances() {
    for (int i = 0; i < 200000; i++) cents_["P" + std::to_string(i)] = 1000 + i % 900;
  }
  long charge(const std::string& pass, long toll) {
    std::unique_lock<std::shared_mutex> hold(mu_);
    auto it = cents_.find(pass);
    if (it == cents_.end()) return -1;
    it->second -= toll;
    if (it->second < 0) it->second += 5000;
    return it->second;
  }

 private:
  std::shared_mutex mu_;
  std::unordered_map<std::string, long> cents_;
};

void crew(int sock, Inbox& inbox, Balances& balances) {
  for (;;) {
    Request r = inbox.take();
    std::string reply = std::to_string(balances.charge(r.pass, 35));
    sendto(sock, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&r.from), sizeof r.from);
  }
}

int main(int, char** argv) {
  int sock = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in addr{};
  addr.sin_family = AF_INET;
  addr.sin_port = htons(std::atoi(argv[1]));
  addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(sock, reinterpret_cast<sockaddr*>(&addr), sizeof addr)) return std::perror("bind"), 1;
  Inbox inbox;
  Balances balances;
  std::vector<std::thread> threads;
  for (int i = 0; i < 48; i++) threads.emplace_back(crew, sock, std::ref(inbox), std::ref(balances));
  char buf[512];
  for (;;) {
    sockaddr_in from{};
    socklen_t len = sizeof from;
    ssize_t n = recvfrom(sock, buf, sizeof buf, 0, reinterpret_cast<sockaddr*>(&from), &len);
    if (n > 0) inbox.put({from, std::string(buf, n)});
  }
}
