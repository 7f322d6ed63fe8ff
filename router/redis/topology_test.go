package redis_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/ontime-llm/ontime/router/redis"
)

// works waits until a store does all that it has to.
func works(t *testing.T, option rueidis.ClientOption) {
	t.Helper()
	s := store(t, option, redis.Options{})
	eventually(t, "a store works", func() error {
		if _, err := s.Publish(t.Context(), []byte("x")); err != nil {
			return err
		}
		if blobs, _, err := s.Fetch(t.Context(), "", 10); err != nil || len(blobs) == 0 {
			return errors.Join(err, errors.New("nothing was fetched"))
		}
		_, err := s.Claim(t.Context(), "probe/1", time.Second)
		return err
	})
}

// A user needs the rights that the documentation names, and no others.
func TestACLUser(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.do("ACL", "SETUSER", "ontime", "on", ">secret", "~ontime:*", "+xadd", "+xrange", "+set", "+pexpire",
		"+hello", "+auth", "+ping", "+cluster|slots", "+cluster|shards")
	option := s.option()
	option.Username, option.Password = "ontime", "secret"
	works(t, option)
	option.Password = "wrong"
	st := store(t, option, redis.Options{})
	if _, err := st.Publish(t.Context(), nil); err == nil {
		t.Error("a wrong password does as well")
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	roots := certificate(t, dir)
	port := freePort(t)
	serve(t, "--tls-port", strconv.Itoa(port), "--tls-auth-clients", "no",
		"--tls-cert-file", filepath.Join(dir, "cert.pem"), "--tls-key-file", filepath.Join(dir, "key.pem"))
	works(t, rueidis.ClientOption{
		InitAddress: []string{"127.0.0.1:" + strconv.Itoa(port)},
		TLSConfig:   &tls.Config{RootCAs: roots},
	})
}

// certificate writes one for 127.0.0.1, and returns who trusts it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(cert)
	return roots
}

// A cluster of one node is one all the same.
func TestCluster(t *testing.T) {
	t.Parallel()
	// The bus has a port of its own, by default one that may be above the last there is.
	s := serve(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(freePort(t)))
	s.do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	works(t, s.option())
}

func TestSentinel(t *testing.T) {
	t.Parallel()
	primary := serve(t)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	monitor := "sentinel monitor fleet 127.0.0.1 " + strconv.Itoa(primary.port) + " 1\n"
	if err := os.WriteFile(file, []byte(monitor), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := &server{t: t, path: primary.path, port: freePort(t)}
	sentinel.args = []string{file, "--port", strconv.Itoa(sentinel.port), "--bind", "127.0.0.1", "--sentinel"}
	t.Cleanup(sentinel.kill)
	sentinel.start()
	option := sentinel.option()
	option.Sentinel.MasterSet = "fleet"
	works(t, option)
}
