package client_test
import ("testing";"testing/synctest";"io";"strings";"fmt";"github.com/ontime-llm/ontime/client")
func TestZZ(t *testing.T){ synctest.Test(t, func(t *testing.T){
 f := newFleet(t, quick, client.Config{}, "one")
 r := newRequest(t, nil, client.BaseURL+"embeddings", io.NopCloser(strings.NewReader(`{"model":"m","input":"x","stream":true}`)))
 resp, err := f.HTTPClient().Transport.RoundTrip(r)
 if err != nil { t.Fatal(err) }
 b, _ := io.ReadAll(resp.Body); resp.Body.Close()
 fmt.Println(resp.Header, string(b))
})}
