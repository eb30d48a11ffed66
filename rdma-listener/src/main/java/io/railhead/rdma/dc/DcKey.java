package io.railhead.rdma.dc;

/**
 * The key that targets are made with, and initiators show: the one secret of the transport. Never
 * printed.
 */
public record DcKey(long value) {
    /** What NVIDIA's client library uses unless it is told another: known to everybody. */
    public static final DcKey WELL_KNOWN = new DcKey(0xffee_ddccL);
    private static final int MAX_DIGITS = 16;

    /** Reads 1 to 16 hex digits, with or without 0x before them. */
    public static DcKey parse(String text) {
        String digits = text.strip().replaceFirst("^0[xX]", "");
        if (digits.length() > MAX_DIGITS || !digits.matches("[0-9a-fA-F]+")) {
            throw new IllegalArgumentException("must hold one key of 1 to 16 hex digits");
        }
        return new DcKey(Long.parseUnsignedLong(digits, 16));
    }

    public boolean isWellKnown() {
        return equals(WELL_KNOWN);
    }

    @Override
    public String toString() {
        return "****";
    }
}
