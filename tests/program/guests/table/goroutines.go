// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines, channels, a timer, TCP to itself, and a panic that is recovered.
package main

import (
	"fmt"
	"net"
	"os"
	"sort"
	"sync"
	"time"
)

func main() {
	var all sync.WaitGroup
	sums := make(chan int, 4)
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			sum := 0
			for j := 0; j < 20000; j++ {
				sum += j % (n + 2)
			}
			sums <- sum
		}(i)
	}
	all.Wait()
	close(sums)
	var list []int
	for sum := range sums {
		list = append(list, sum)
	}
	sort.Ints(list)
	fmt.Println(list)
	select {
	case <-time.After(20 * time.Millisecond):
		fmt.Println("later")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() {
		client, _ := net.Dial("tcp", listener.Addr().String())
		fmt.Fprintf(client, "over tcp")
		client.Close()
	}()
	server, _ := listener.Accept()
	text := make([]byte, 100)
	n, _ := server.Read(text)
	fmt.Println(string(text[:n]))
	defer func() {
		fmt.Println("recovered:", recover())
		os.Exit(4)
	}()
	var none []int
	_ = none[n]
}
