// SPDX-License-Identifier: Apache-2.0

// redsync PORT[,PORT...] LOCK MODE COMMAND...: the command under a mutex of redsync, with go-redis.
//
//	run     once, also if the program must wait
//	wait    one client for each line of standard input; "waiting" on standard output when its first request was refused
//	try     once, or exit code 9 when the lock is not free
//	extend  as run, and an extension after the command: exit code 8 when it is refused
//
// LOCK_TTL_MS: the life of the key.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func lifetime() time.Duration {
	if ms, err := strconv.Atoi(os.Getenv("LOCK_TTL_MS")); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	return 10 * time.Minute
}

func once(ports, lock, mode string, command []string) int {
	var pools []redsyncredis.Pool
	for _, port := range strings.Split(ports, ",") {
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, PoolSize: 1})
		defer client.Close()
		pools = append(pools, goredis.NewPool(client))
	}
	// The default pause between requests: 50 to 250 ms.
	mutex := redsync.New(pools...).NewMutex(lock, redsync.WithExpiry(lifetime()), redsync.WithTries(1<<30))
	if mutex.TryLock() != nil {
		if mode == "try" {
			return 9
		}
		fmt.Println("waiting")
		if err := mutex.Lock(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 69
		}
	}
	defer mutex.Unlock()
	code := 0
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
		code = 1
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			code = ended.ExitCode()
		}
	}
	if mode == "extend" {
		if extended, _ := mutex.Extend(); !extended {
			return 8
		}
	}
	return code
}

func main() {
	ports, lock, mode, command := os.Args[1], os.Args[2], os.Args[3], os.Args[4:]
	if mode != "wait" {
		os.Exit(once(ports, lock, mode, command))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		go once(ports, lock, mode, command)
	}
}
