package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/mcptools"
	"github.com/repo-memory/ledger/pkg/regular"
)

const (
	// maxTokenFile bounds the file that holds the access token and a line feed.
	maxTokenFile = 2 << 10
	// lifeTime is the longest that a job may run, on a runner of one's own.
	lifeTime = 5 * 24 * time.Hour
	// lookTime is how often the server looks whether its folder is still there.
	lookTime = 10 * time.Second
)

// tokenPath is where the access token of the server of the folder dir stands.
func tokenPath(dir string) string { return filepath.Clean(dir) + ".token" }

// serveHTTP serves over HTTP until ctx is done, the folder is gone or replaced, or
// no job could run any longer. Once it listens it prints one line, {"url":…}.
func serveHTTP(ctx context.Context, a *action.Action, server *mcptools.Server, dir string) error {
	ip, port, hosts, err := address(a)
	if err != nil {
		return err
	}
	token, err := accessToken(a, dir)
	if err != nil {
		return err
	}
	if !ip.IsLoopback() {
		a.Noticef("listen is not loopback: whoever reaches that address needs only the access token")
	}
	l, err := net.Listen("tcp", netip.AddrPortFrom(ip, port).String())
	if err != nil {
		return action.BadInput("port", "cannot be listened on at this address: it is taken, or the machine has no such address; give another listen or port")
	}
	ctx, cancel := context.WithTimeout(ctx, lifeTime)
	defer cancel()
	looks := time.NewTicker(lookTime)
	defer looks.Stop()
	go func() {
		defer cancel()
		untilGone(ctx, dir, looks.C)
	}()
	line, err := json.Marshal(map[string]string{"url": "http://" + l.Addr().String() + mcptools.Endpoint})
	if err != nil {
		return err
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		l.Close()
		return errors.New("the one who started the server is gone")
	}
	return server.ServeHTTP(ctx, l, mcptools.HTTPOptions{Token: token, Hosts: hosts})
}

// address reads where to listen and what clients may call it.
func address(a *action.Action) (ip netip.Addr, port uint16, hosts []string, err error) {
	ip, err = netip.ParseAddr(a.GetInput("listen"))
	ip = ip.Unmap() // ::ffff:0.0.0.0 is all addresses, too
	if err != nil || ip.Zone() != "" || ip.IsMulticast() {
		return ip, 0, nil, action.BadInput("listen", "is no IP address; the default is 127.0.0.1")
	}
	if ip.IsUnspecified() {
		return ip, 0, nil, action.BadInput("listen", "names all addresses of the machine; name one, such as that of the bridge to the containers")
	}
	for _, host := range a.ListInput("allowed-hosts") {
		if !mcptools.IsHost(host) {
			return ip, 0, nil, action.BadInput("allowed-hosts", "got %s; want names of hosts without a port", action.Quote(host, 80))
		}
		hosts = append(hosts, host)
	}
	if token := a.GetInput("access-token"); token != "" && !mcptools.IsToken(token) {
		return ip, 0, nil, action.BadInput("access-token", "%v", mcptools.ErrToken)
	}
	return ip, uint16(a.IntInput("port")), hosts, nil
}

// accessToken is the given one, that of the file beside the folder, or a new one;
// in the end it stands in that file.
func accessToken(a *action.Action, dir string) (string, error) {
	path := tokenPath(dir)
	token := a.GetInput("access-token")
	if token == "" {
		text, err := regular.ReadFile(path, maxTokenFile)
		switch {
		case err == nil:
			if token = strings.TrimSuffix(string(text), "\n"); !mcptools.IsToken(token) {
				return "", errors.New("the file of the access token holds none; remove it")
			}
			return token, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", errors.New("the file of the access token cannot be read; remove it")
		}
		var random [32]byte
		if _, err := rand.Read(random[:]); err != nil {
			return "", errors.New("there is no randomness for an access token")
		}
		token = base64.RawURLEncoding.EncodeToString(random[:])
	}
	_ = os.Remove(path) // one that others can read would stay so
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(token + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", errors.New("the access token cannot be written to a file beside the folder")
	}
	return token, nil
}

// untilGone returns when dir is no longer the folder that it was, or ctx is done.
func untilGone(ctx context.Context, dir string, look <-chan time.Time) {
	was, err := os.Stat(dir)
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-look:
		}
		var is os.FileInfo
		if is, err = os.Stat(dir); err == nil && !os.SameFile(was, is) {
			return
		}
	}
}
