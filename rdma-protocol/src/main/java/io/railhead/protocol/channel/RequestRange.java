package io.railhead.protocol.channel;

/** The requested range of an object. */
public sealed interface RequestRange {

    /** The whole object. */
    record All() implements RequestRange {}

    /** The bytes from the first to the last, both inclusive, as far as the object reaches. */
    record Between(long first, long last) implements RequestRange {
        public Between {
            if (first < 0 || last < first) {
                throw new IllegalArgumentException(
                        "range must be 0 <= first <= last: " + first + "-" + last);
            }
        }
    }

    /** The bytes from the first to the object's end. */
    record From(long first) implements RequestRange {
        public From {
            if (first < 0) {
                throw new IllegalArgumentException("first must be >= 0: " + first);
            }
        }
    }

    /** The last {@code bytes} bytes of the object. */
    record Last(long bytes) implements RequestRange {
        public Last {
            if (bytes < 0) {
                throw new IllegalArgumentException("bytes must be >= 0: " + bytes);
            }
        }
    }

    RequestRange ALL = new All();
}
