package io.railhead.rdma.dc;

/**
 * The DC key, which targets are created with and initiators must present: the one secret of the
 * transport. Never printed.
 */
public record DcKey(long value) {
    /** The default key of NVIDIA's client library, which everybody knows. */
    public static final DcKey WELL_KNOWN = new DcKey(0xffee_ddccL);
    private static final int MAX_DIGITS = 16;

    /** Parses 1 to 16 hex digits, with or without 0x before them. */
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
