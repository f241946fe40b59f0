// SPDX-License-Identifier: Apache-2.0

// redsync PORT LOCK run|wait COMMAND...: the command under a mutex of redsync, with go-redis. `run`: once. `wait`: one
// client for each line of standard input; "waiting" on standard output when its first request was refused.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func once(port, lock string, command []string) int {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, PoolSize: 1})
	defer client.Close()
	// The default pause between requests: 50 to 250 ms.
	mutex := redsync.New(goredis.NewPool(client)).NewMutex(lock, redsync.WithExpiry(10*time.Minute), redsync.WithTries(1<<30))
	if mutex.TryLock() != nil {
		fmt.Println("waiting")
		if err := mutex.Lock(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 69
		}
	}
	defer mutex.Unlock()
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
		return 1
	}
	return 0
}

func main() {
	port, lock, mode, command := os.Args[1], os.Args[2], os.Args[3], os.Args[4:]
	if mode == "run" {
		os.Exit(once(port, lock, command))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		go once(port, lock, command)
	}
}
