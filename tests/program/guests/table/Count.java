// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.*;
import java.util.stream.*;

class Count {
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        Future<Integer> sum = pool.submit(() -> IntStream.range(0, 1000).filter(i -> i % 3 == 0).sum());
        System.out.println(sum.get() + " " + Stream.of("b", "a").sorted().collect(Collectors.toList()));
        pool.shutdown();
        try {
            Object none = null;
            none.hashCode();
        } catch (NullPointerException e) {
            System.out.println("null");
        }
        System.exit(6);
    }
}
