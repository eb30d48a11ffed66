package io.railhead.gateway.config;

/** A size in configuration: {@code 4GiB}, {@code 512MiB}, {@code 64KiB} or plain bytes. */
public record ByteCount(long bytes) {
    public static final ByteCount UNLIMITED = new ByteCount(Long.MAX_VALUE);

    public ByteCount {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes must be >= 0: " + bytes);
        }
    }

    /** Parses a size. Throws IllegalArgumentException that names the fault. */
    public static ByteCount parse(String text) {
        Quantity quantity = Quantity.split(text, "a size such as 4GiB, 512MiB, 64KiB");
        int shift = switch (quantity.unit()) {
            case "", "B" -> 0;
            case "KiB" -> 10;
            case "MiB" -> 20;
            case "GiB" -> 30;
            case "TiB" -> 40;
            default -> throw quantity.refuse();
        };
        if (quantity.count() > Long.MAX_VALUE >> shift) {
            throw quantity.refuse();
        }
        return new ByteCount(quantity.count() << shift);
    }

    @Override
    public String toString() {
        String[] units = {"", "KiB", "MiB", "GiB", "TiB"};
        long count = bytes;
        int unit = 0;
        while (count != 0 && count % 1024 == 0 && unit < units.length - 1) {
            count /= 1024;
            unit++;
        }
        return count + units[unit];
    }
}
