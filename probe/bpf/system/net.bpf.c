// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP in the kernel: response times, opened and closed connections, retransmissions. Only sums by port and peer leave
 * the kernel.
 *
 *   a service      receives data (the last byte of a request) .. sends (the first byte of its response)
 *   a client       sends (the last byte of its request) .. receives data (the first byte of the response)
 *
 * The state of a connection is stored with its socket, and ends with it.
 */
#include "kernel.h"
#include <bpf/bpf_endian.h>

#define PAIRS_MAX 8192
#define PORTS_MAX 65536
#define TCP_ESTABLISHED 1
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE_WAIT 8
#define TCP_LISTEN 10
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6

/* Eight steps for each power of two, from a microsecond on: a step is an eighth of its value. */
#define STEP_BITS 3
#define STEPS 256

struct in6_addr {
	__u8 bytes[16];
} CORE;

struct sock_common {
	__u32 skc_daddr;
	__u16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
} CORE;

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
} CORE;

struct request_sock {
	struct sock_common __req_common;
} CORE;

enum role {
	/* Connected to by a client, at a port here. */
	ROLE_SERVICE = 1,
	/* Connected to a service. */
	ROLE_CALLER,
};

/* A service here and its client, or a client here and its service. */
struct pair {
	__u8 address[16];
	/* Port of the service. */
	__u16 port;
	__u16 role;
	/* Process that sends; 0 if unknown. */
	__u32 tgid;
};

struct counts {
	__u64 opened;
	/* Side that sent the first FIN, which keeps the connection in TIME_WAIT for a minute. */
	__u64 closed_here;
	__u64 closed_there;
	__u64 reset;
	__u64 retransmitted;
	__u64 synacks_retransmitted;
	__u64 resets_received;
	__u64 lives;
	__u64 life_ns;
};

struct histogram {
	__u64 steps[STEPS];
	__u64 sum_ns;
	__u64 max_ns;
};

/* State of a connection, stored with its socket. */
struct connection {
	/* Time of the open request; 0 without one. */
	__u64 requested_ns;
	__u64 opened_ns;
	__u32 role;
	__u32 tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* Ports that listen. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PORTS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u16);
	__type(value, __u8);
} listening SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, PAIRS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct pair);
	__type(value, struct histogram);
} answers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct histogram);
} empty SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PAIRS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct pair);
	__type(value, struct counts);
} counted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} accounts SEC(".maps");

static __always_inline void count_lost(void)
{
	__u32 zero = 0;
	__u64 *lost = bpf_map_lookup_elem(&accounts, &zero);

	if (lost)
		__sync_fetch_and_add(lost, 1);
}

static __always_inline __u32 role_of(struct sock *socket)
{
	__u16 port = socket->__sk_common.skc_num;

	return bpf_map_lookup_elem(&listening, &port) ? ROLE_SERVICE : ROLE_CALLER;
}

static __always_inline bool is_tcp(struct sock *socket)
{
	__u16 family = socket->__sk_common.skc_family;

	return socket->sk_protocol == IPPROTO_TCP && (family == AF_INET || family == AF_INET6);
}

static __always_inline void set_address(struct sock_common *common, struct pair *pair)
{
	__u32 mapped = 0xffff0000, address;

	if (BPF_CORE_READ(common, skc_family) == AF_INET6) {
		bpf_core_read(pair->address, sizeof(pair->address), &common->skc_v6_daddr);
		return;
	}
	/* As an IPv6 address: ::ffff:a.b.c.d */
	address = BPF_CORE_READ(common, skc_daddr);
	__builtin_memcpy(pair->address + 8, &mapped, sizeof(mapped));
	__builtin_memcpy(pair->address + 12, &address, sizeof(address));
}

static __always_inline void set_pair(struct sock *socket, __u32 role, __u32 tgid, struct pair *pair)
{
	pair->role = role;
	pair->tgid = tgid;
	pair->port = role == ROLE_SERVICE ? socket->__sk_common.skc_num : bpf_ntohs(socket->__sk_common.skc_dport);
	set_address(&socket->__sk_common, pair);
}

static __always_inline struct connection *connection_of(struct sock *socket)
{
	struct connection *connection = bpf_sk_storage_get(&connections, socket, 0, 0);

	if (connection)
		return connection;
	connection = bpf_sk_storage_get(&connections, socket, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (connection)
		connection->role = role_of(socket);
	return connection;
}

/* The same steps as in probe/src/kernel/system/net.rs. */
static __always_inline __u32 step_of(__u64 ns)
{
	__u64 us = ns / 1000, rest;
	__u32 doublings = 0;
	int i;

	if (us < 1 << STEP_BITS)
		return us;
	rest = us;
	for (i = 32; i; i >>= 1) {
		if (rest >> i) {
			doublings += i;
			rest >>= i;
		}
	}
	return ((doublings - STEP_BITS + 1) << STEP_BITS) + ((us >> (doublings - STEP_BITS)) & ((1 << STEP_BITS) - 1));
}

static __always_inline void add_response(struct sock *socket, struct connection *connection, __u32 tgid, __u64 ns)
{
	struct histogram *histogram, *nothing;
	__u32 zero = 0, step = step_of(ns);
	struct pair pair = {};

	set_pair(socket, connection->role, tgid, &pair);
	histogram = bpf_map_lookup_elem(&answers, &pair);
	if (!histogram) {
		nothing = bpf_map_lookup_elem(&empty, &zero);
		if (!nothing || bpf_map_update_elem(&answers, &pair, nothing, BPF_NOEXIST)) {
			/* Another processor may just have created it. */
			if (!bpf_map_lookup_elem(&answers, &pair))
				count_lost();
		}
		histogram = bpf_map_lookup_elem(&answers, &pair);
		if (!histogram)
			return;
	}
	histogram->steps[step < STEPS ? step : STEPS - 1]++;
	histogram->sum_ns += ns;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
}

/* Data is in the socket's queue. */
SEC("tp_btf/sk_data_ready")
int data_comes(__u64 *ctx)
{
	struct sock *socket = (void *)ctx[0];
	struct connection *connection;
	__u64 now;

	if (!is_tcp(socket) || socket->__sk_common.skc_state == TCP_LISTEN)
		return 0;
	connection = connection_of(socket);
	if (!connection)
		return 0;
	now = bpf_ktime_get_ns();
	if (connection->role == ROLE_SERVICE) {
		connection->requested_ns = now;
	} else if (connection->requested_ns) {
		add_response(socket, connection, connection->tgid, now - connection->requested_ns);
		connection->requested_ns = 0;
	}
	return 0;
}

static __always_inline int sends(struct sock *socket)
{
	struct connection *connection;
	__u64 now;

	if (!is_tcp(socket))
		return 0;
	connection = connection_of(socket);
	if (!connection)
		return 0;
	now = bpf_ktime_get_ns();
	connection->tgid = bpf_get_current_pid_tgid() >> 32;
	if (connection->role == ROLE_CALLER) {
		connection->requested_ns = now;
	} else if (connection->requested_ns) {
		add_response(socket, connection, connection->tgid, now - connection->requested_ns);
		connection->requested_ns = 0;
	}
	return 0;
}

/* Before any data is sent; Linux 6.15 and later. */
SEC("tp_btf/tcp_sendmsg_locked")
int begins_to_send(__u64 *ctx)
{
	return sends((struct sock *)ctx[0]);
}

/* After the data is sent; Linux 6.3 and later. */
SEC("tp_btf/sock_send_length")
int has_sent(__u64 *ctx)
{
	return sends((struct sock *)ctx[0]);
}

static __always_inline struct counts *counts_of(struct pair *pair)
{
	struct counts nothing = {}, *counts = bpf_map_lookup_elem(&counted, pair);

	if (counts)
		return counts;
	bpf_map_update_elem(&counted, pair, &nothing, BPF_NOEXIST);
	counts = bpf_map_lookup_elem(&counted, pair);
	if (!counts)
		count_lost();
	return counts;
}

#define COUNT(counts, field)                                         \
	do {                                                         \
		if (counts)                                          \
			__sync_fetch_and_add(&(counts)->field, 1);   \
	} while (0)

SEC("tp_btf/inet_sock_set_state")
int changes(__u64 *ctx)
{
	struct sock *socket = (void *)ctx[0];
	int before = ctx[1], now = ctx[2];
	struct connection *connection;
	struct counts *counts;
	struct pair pair = {};
	__u16 port;
	__u8 one = 1;
	__u64 life;

	if (!is_tcp(socket))
		return 0;
	if (now == TCP_LISTEN) {
		port = socket->__sk_common.skc_num;
		bpf_map_update_elem(&listening, &port, &one, BPF_ANY);
		return 0;
	}
	if (now != TCP_ESTABLISHED && before != TCP_ESTABLISHED)
		return 0;
	connection = connection_of(socket);
	if (!connection)
		return 0;
	/* The process that closes is seldom the one that sends; all connections of a pair are counted together. */
	set_pair(socket, connection->role, 0, &pair);
	counts = counts_of(&pair);
	if (now == TCP_ESTABLISHED) {
		connection->opened_ns = bpf_ktime_get_ns();
		COUNT(counts, opened);
		return 0;
	}
	if (now == TCP_FIN_WAIT1)
		COUNT(counts, closed_here);
	else if (now == TCP_CLOSE_WAIT)
		COUNT(counts, closed_there);
	else
		COUNT(counts, reset);
	if (connection->opened_ns && counts) {
		life = bpf_ktime_get_ns() - connection->opened_ns;
		__sync_fetch_and_add(&counts->lives, 1);
		__sync_fetch_and_add(&counts->life_ns, life);
	}
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int retransmits(__u64 *ctx)
{
	struct sock *socket = (void *)ctx[0];
	struct pair pair = {};
	struct counts *counts;

	set_pair(socket, role_of(socket), 0, &pair);
	counts = counts_of(&pair);
	COUNT(counts, retransmitted);
	return 0;
}

/* For a connection that is not established, the port is the listening socket's. */
SEC("tp_btf/tcp_retransmit_synack")
int retransmits_synack(__u64 *ctx)
{
	struct sock *socket = (void *)ctx[0];
	struct request_sock *request = (void *)ctx[1];
	struct pair pair = { .role = ROLE_SERVICE };
	struct counts *counts;

	pair.port = socket->__sk_common.skc_num;
	set_address(&request->__req_common, &pair);
	counts = counts_of(&pair);
	COUNT(counts, synacks_retransmitted);
	return 0;
}

SEC("tp_btf/tcp_receive_reset")
int receives_reset(__u64 *ctx)
{
	struct sock *socket = (void *)ctx[0];
	struct pair pair = {};
	struct counts *counts;

	set_pair(socket, role_of(socket), 0, &pair);
	counts = counts_of(&pair);
	COUNT(counts, resets_received);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
