# SPDX-License-Identifier: GPL-2.0-or-later
puts [3, 1, 2].sort.inspect, 2**100, "abc".tr("a-c", "x")
puts 3.times.map { |n| Thread.new { (0..1000).sum * n } }.map(&:value).inspect
begin
  [].fetch(5)
rescue IndexError => e
  puts e.class
end
exit 7
