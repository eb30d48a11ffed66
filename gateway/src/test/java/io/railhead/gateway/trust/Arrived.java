package io.railhead.gateway.trust;

import java.net.http.HttpHeaders;

/**
 * What has come of an HTTP answer.
 *
 * @param whole whether its end has
 */
@SuppressWarnings("ArrayRecordComponent") // Compared with nothing; whoever has it may not write.
public record Arrived(int status, HttpHeaders headers, byte[] body, boolean whole) {

    /** Empty where there is none. */
    public String header(String name) {
        return headers.firstValue(name).orElse("");
    }
}
