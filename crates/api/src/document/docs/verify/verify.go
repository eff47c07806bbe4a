package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Verify takes the raw body, before any JSON parsing.
func Verify(rawBody []byte, header, secret string, now time.Time) bool {
	var t string
	var given [][]byte
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			t = value
		case "v1":
			if mac, err := hex.DecodeString(value); err == nil {
				given = append(given, mac)
			}
		}
	}
	signed, err := strconv.ParseInt(t, 10, 64)
	if away := now.Unix() - signed; err != nil || away > 300 || -away > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(rawBody)
	expected := mac.Sum(nil)
	for _, value := range given {
		if hmac.Equal(expected, value) {
			return true
		}
	}
	return false
}
