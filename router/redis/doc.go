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
//	~ontime:* +xadd +xrange +set +pexpire +hello +auth +ping +client|setinfo +client|setname +cluster|slots +cluster|shards
//
// of which cluster matters to clusters only. Give each fleet, and each stage of one, a
// prefix of its own: targets, endpoints and models that have the same names are taken to
// be the same. In a Redis that evicts keys the stream may be evicted: that costs those
// who join later what was in it.
//
// # What it costs
//
// A replica reads once a second (XRANGE) and appends once in 5 s while it has calls, else
// once in 15 s (XADD); cooldowns and probes come on top, when there are any. For N
// replicas that is at most
//
//	N * (1 + 1/5) commands per second      60 for 50 replicas
//
// A blob is 20 to 40 bytes for the replica and the layers, and 60 to 150 for each route
// that had calls. With b bytes a blob, that the stream keeps for half an hour and N
// replicas read,
//
//	memory   N * 360 * b
//	traffic  N * N * b / 5 bytes per second
//
// # MEASURED
//
// # Versions
//
// A blob says of which version it is. A replica ignores those of another, and counts them,
// so that during a deployment the old and the new ones learn from their like.
package redis
