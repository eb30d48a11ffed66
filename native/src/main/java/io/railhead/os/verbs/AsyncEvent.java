package io.railhead.os.verbs;

/**
 * An event that a device reports outside any completion queue.
 *
 * @param element the number of the queue pair or port, as the type says; 0 otherwise
 */
public record AsyncEvent(Type type, int element) {

    /** enum ibv_event_type; {@link #UNKNOWN} is anything newer. */
    public enum Type {
        CQ_ERR(0, Element.NONE),
        QP_FATAL(1, Element.QUEUE_PAIR),
        QP_REQ_ERR(2, Element.QUEUE_PAIR),
        QP_ACCESS_ERR(3, Element.QUEUE_PAIR),
        COMM_EST(4, Element.QUEUE_PAIR),
        SQ_DRAINED(5, Element.QUEUE_PAIR),
        PATH_MIG(6, Element.QUEUE_PAIR),
        PATH_MIG_ERR(7, Element.QUEUE_PAIR),
        DEVICE_FATAL(8, Element.NONE),
        PORT_ACTIVE(9, Element.PORT),
        PORT_ERR(10, Element.PORT),
        LID_CHANGE(11, Element.PORT),
        PKEY_CHANGE(12, Element.PORT),
        SM_CHANGE(13, Element.PORT),
        SRQ_ERR(14, Element.NONE),
        SRQ_LIMIT_REACHED(15, Element.NONE),
        QP_LAST_WQE_REACHED(16, Element.QUEUE_PAIR),
        CLIENT_REREGISTER(17, Element.PORT),
        GID_CHANGE(18, Element.PORT),
        WQ_FATAL(19, Element.NONE),
        UNKNOWN(-1, Element.NONE);

        final int value;
        private final Element element;

        Type(int value, Element element) {
            this.value = value;
            this.element = element;
        }

        public boolean isOfQueuePair() {
            return element == Element.QUEUE_PAIR;
        }

        public boolean isOfPort() {
            return element == Element.PORT;
        }

        static Type of(int value) {
            for (Type type : values()) {
                if (type.value == value) {
                    return type;
                }
            }
            return UNKNOWN;
        }

        private enum Element {
            NONE,
            QUEUE_PAIR,
            PORT
        }
    }
}
