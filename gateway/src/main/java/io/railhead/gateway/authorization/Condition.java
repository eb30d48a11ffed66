package io.railhead.gateway.authorization;

import io.railhead.gateway.request.RequestSource;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One line of a statement's {@code Condition}. As in S3, a missing value fails a condition that
 * requires it, and meets one that excludes it.
 */
sealed interface Condition {

    boolean holds(RequestSource requestSource, Access access);

    /** Returns whether the sender has a value for each variable that an exclusion names. */
    default boolean canBeJudged(RequestSource requestSource) {
        return true;
    }

    /** The text of a listing that a condition compares. */
    enum Subject {
        PREFIX,
        DELIMITER
    }

    /**
     * {@code StringEquals} and its variants: any of the patterns must match, or with {@code not}
     * none.
     */
    record Text(Subject subject, List<Wildcard> patterns, boolean not) implements Condition {
        public Text {
            patterns = List.copyOf(patterns);
        }

        @Override
        public boolean holds(RequestSource requestSource, Access access) {
            String text = subject == Subject.PREFIX ? access.prefix() : access.delimiter();
            return (text != null && matches(requestSource, text)) != not;
        }

        @Override
        public boolean canBeJudged(RequestSource requestSource) {
            return !not || Statement.areKnown(patterns, requestSource);
        }

        private boolean matches(RequestSource requestSource, String text) {
            for (int i = 0; i < patterns.size(); i++) {
                if (patterns.get(i).matches(requestSource, text, null)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** {@code IpAddress} and {@code NotIpAddress}. */
    record Source(List<Network> networks, boolean not) implements Condition {
        public Source {
            networks = List.copyOf(networks);
        }

        @Override
        public boolean holds(RequestSource requestSource, Access access) {
            return contains(requestSource.source()) != not;
        }

        private boolean contains(@Nullable InetAddress source) {
            for (int i = 0; source != null && i < networks.size(); i++) {
                if (networks.get(i).contains(source)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** {@code Bool} of {@code aws:SecureTransport}. */
    record Secure(boolean wanted) implements Condition {

        @Override
        public boolean holds(RequestSource requestSource, Access access) {
            return requestSource.secure() == wanted;
        }
    }
}
