# SPDX-License-Identifier: GPL-2.0-or-later
my %h; my $t = join "", map { chr(97 + $_ % 26) } 0..5000; $h{$_}++ for split //, $t;
print join(",", map { "$_=$h{$_}" } sort keys %h), "\n"; (my $u = $t) =~ s/([aeiou])/<$1>/g; print length $u, "\n";
printf "%.15g %s %d\n", atan2(1,1)*4, join("-", sort { $b <=> $a } 3,10,2), 2**40; print scalar reverse("abc"), "\n";
open my $f, "<", "fixture.txt"; my $n = () = <$f>; print "$n\n"; exit 3;
