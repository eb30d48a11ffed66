package io.railhead.gateway.auth;

/**
 * The scope of a SigV4 signature: day, region and service.
 *
 * @param date yyyyMMdd, UTC
 */
public record SignatureScope(String date, String region, String service) {

    @Override
    public String toString() {
        return date + '/' + region + '/' + service + "/aws4_request";
    }
}
