package io.railhead.gateway.config;

import java.util.regex.Pattern;

/**
 * The address that a listener binds.
 *
 * @param host an address or name, IPv6 without its brackets
 * @param port 0 lets the system choose
 */
public record ListenAddress(String host, int port) {
    private static final Pattern LOOPBACK = Pattern
            .compile("127(\\.[0-9]{1,3}){3}|::1|localhost");

    /** Parses host:port. Throws IllegalArgumentException that names the fault. */
    public static ListenAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw refusal(text);
        }
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (host.isEmpty() || port < 0 || port > 65_535) {
                throw refusal(text);
            }
            return new ListenAddress(host, port);
        } catch (NumberFormatException e) {
            throw refusal(text);
        }
    }

    private static IllegalArgumentException refusal(String text) {
        return new IllegalArgumentException(
                "'" + text + "' is not an address such as 0.0.0.0:9000 or [::]:9000");
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** Returns whether it stands for every address of this host. */
    public boolean isAny() {
        return host.equals("0.0.0.0") || host.equals("::");
    }

    /** Returns whether both could not be bound; a port that the system chooses is free. */
    boolean overlaps(ListenAddress other) {
        return port != 0 && port == other.port
                && (isAny() || other.isAny() || host.equalsIgnoreCase(other.host));
    }

    /** Returns whether only processes of this host can connect. */
    public boolean isOfThisHost() {
        return isOfThisHost(host);
    }

    /** Returns whether a host's name or address always means this host. */
    public static boolean isOfThisHost(String host) {
        return LOOPBACK.matcher(host).matches();
    }
}
