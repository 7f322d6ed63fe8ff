// Package redis lets the replicas of an application learn from each other through
// Redis, Valkey, or whatever speaks their protocol with streams (Redis 6.2 or later).
//
//	store, err := redis.New(rueidis.ClientOption{InitAddress: []string{"redis:6379"}}, redis.Options{})
//	...
//	defer store.Close() // after the client's own Close
//	c, err := client.New(client.Config{Shared: store, ...})
//
// How replicas are reached is for rueidis' own options to say: TLS, an ACL user,
// several addresses of a cluster, a sentinel's. New does not connect; as long as there
// is no connection each replica goes by what it sees itself, and it takes part as soon
// as there is one. What is shared, and what becomes of it, is described in package
// router; nothing of a prompt, an answer or a credential is.
//
// # Keys
//
// There are two kinds, both below [Options.Prefix]:
//
//	ontime:log            a stream, to which every replica appends, and which all read from where they were
//	ontime:probe/...      who may probe a route that is to be found well again; 15 s to a minute each
//
// The stream is trimmed to the latest half hour ([Options.TTL]) as it is appended to, and
// expires as a whole when nobody does. Every command names one key, so that nothing is
// asked of a cluster but to have the stream in one of its slots, and no key is ever
// searched for. An ACL user needs
//
//	~ontime:* +xadd +xrange +set +pexpire +hello +auth +ping +cluster|slots +cluster|shards
//
// of which cluster is how rueidis finds out whether it is one. Give each fleet, and each
// stage of one, a prefix of its own: targets, endpoints and models that have the same names
// are taken to be the same. In a Redis that evicts keys the stream may be evicted: that
// costs those who join later what was in it.
//
// # What it costs
//
// A replica reads once a second (XRANGE) and appends once in 5 s while it has calls, else
// once in 15 s (XADD), and once a minute says that the stream is in use (PEXPIRE); cooldowns
// and probes come on top, when there are any. For N
// replicas that is at most
//
//	N * (1 + 1/5 + 1/60) commands per second      61 for 50 replicas
//
// and a ping every 10 s for each connection that is idle. A blob is some 20 bytes for the
// replica, 30 for each layer and 60 to 150 for each route that had calls. With b bytes a blob,
// which the stream keeps for half an hour and all replicas read,
//
//	memory   N * 360 * b              5 MB for 50 replicas, at 280 bytes
//	traffic  N * N/5 * b a second     140 kB
//
// Measured with 50 replicas, each with a call a second over four routes and three layers
// (go test ./router/redis -run TestCost -v -cost 60s, with redis-server 7.0 on a busy machine
// of two cores): 44 XRANGE, 9 XADD and 0.1 PING a second; 283 bytes an entry, with what Redis
// adds; 4.7 MB in half an hour; 139 kB a second. With 10 calls a second each an entry takes 379
// bytes.
//
// What it gains is in a table of examples/simulate: sixteen replicas with a call in ten
// seconds each do nearly as well as one process that sees all of them.
//
// # Versions
//
// A blob says of which version it is. A replica ignores those of another, and counts them,
// so that during a deployment the old and the new ones learn from their like.
package redis
