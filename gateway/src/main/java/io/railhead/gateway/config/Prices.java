package io.railhead.gateway.config;

/**
 * A store's price list. Money is counted by double: a saving is an estimate, and no bill.
 *
 * @param currency the name that amounts are shown with
 * @param getPer1000 the price of 1,000 GETs or HEADs of objects
 * @param putPer1000 the price of 1,000 PUTs, POSTs or lists
 * @param egressPerGib the price of 1 GiB that leaves the store
 */
public record Prices(String currency, double getPer1000, double putPer1000, double egressPerGib) {
    private static final double GIB = 1L << 30;

    /** Returns the price of some requests and bytes. */
    public double of(long gets, long puts, long egressBytes) {
        return gets / 1000.0 * getPer1000 + puts / 1000.0 * putPer1000
                + egressBytes / GIB * egressPerGib;
    }
}
