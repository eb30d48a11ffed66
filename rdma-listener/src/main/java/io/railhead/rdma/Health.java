package io.railhead.rdma;

/**
 * The health of a fabric.
 *
 * @param reason why the fabric is not usable; "" if it is
 */
public record Health(boolean usable, String reason) {
    public static final Health USABLE = new Health(true, "");

    public static Health down(String reason) {
        return new Health(false, reason);
    }
}
