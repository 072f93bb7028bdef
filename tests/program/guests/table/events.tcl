# SPDX-License-Identifier: GPL-2.0-or-later
puts [expr {2**70}]
foreach {key value} [dict create a 1 b 2] { puts "$key=$value" }
after 5 {set done 1}
vwait done
set server [socket -server {apply {{channel host port} {puts $channel "to $host"; close $channel}}} -myaddr 127.0.0.1 0]
set client [socket 127.0.0.1 [lindex [fconfigure $server -sockname] 2]]
fileevent $client readable {set line [gets $client]}
vwait line
puts $line
exit 3
