package io.railhead.gateway.auth;

/**
 * Where and when a SigV4 signature holds.
 *
 * @param date yyyyMMdd, UTC
 */
public record SignatureScope(String date, String region, String service) {

    @Override
    public String toString() {
        return date + '/' + region + '/' + service + "/aws4_request";
    }
}
