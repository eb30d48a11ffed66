package io.railhead.gateway.audit;

import java.util.Locale;

/**
 * The kinds of audit events, with their OCSF class and their limits.
 *
 * <p> Limits hold for kinds that a remote sender causes: a flood of one kind, or of one sender,
 * must not push other events out of the stream.
 */
public enum AuditKind {
    AUDIT_STARTED(OcsfClass.APPLICATION_LIFECYCLE, Activity.START, 0, 0),
    AUDIT_STOPPED(OcsfClass.APPLICATION_LIFECYCLE, Activity.STOP, 0, 0),
    LOGIN_REFUSED(OcsfClass.AUTHENTICATION, Activity.LOGON, 10, 120),
    ACCESS_DENIED(OcsfClass.API_ACTIVITY, Activity.OTHER, 10, 120),
    RDMA_OPENED(OcsfClass.API_ACTIVITY, Activity.CREATE, 30, 6000),
    RDMA_REFUSED(OcsfClass.API_ACTIVITY, Activity.CREATE, 10, 120),
    RDMA_TOKEN(OcsfClass.API_ACTIVITY, Activity.READ, 1, 600),
    ADMIN_CALL(OcsfClass.API_ACTIVITY, Activity.OTHER, 0, 0),
    ADMIN_REFUSED(OcsfClass.API_ACTIVITY, Activity.OTHER, 10, 120),
    RELOAD(OcsfClass.APPLICATION_LIFECYCLE, Activity.UPDATE, 0, 0),
    KEY_CHANGED(OcsfClass.ACCOUNT_CHANGE, Activity.OTHER, 0, 0),
    IDENTITY_EXCHANGED(OcsfClass.AUTHENTICATION, Activity.LOGON, 60, 6000),
    IDENTITY_REFUSED(OcsfClass.AUTHENTICATION, Activity.LOGON, 10, 120);

    private final OcsfClass ocsfClass;
    private final int activity;
    private final int ofSource;
    private final int ofAll;

    /** The classes of the Open Cybersecurity Schema Framework, version 1.3. */
    enum OcsfClass {
        ACCOUNT_CHANGE(3, 3001),
        AUTHENTICATION(3, 3002),
        APPLICATION_LIFECYCLE(6, 6002),
        API_ACTIVITY(6, 6003);

        private final int category;
        private final int uid;

        OcsfClass(int category, int uid) {
            this.category = category;
            this.uid = uid;
        }

        int category() {
            return category;
        }

        int uid() {
            return uid;
        }
    }

    /** Activities by their numbers, which each class defines for itself. */
    static final class Activity {
        static final int LOGON = 1;
        static final int CREATE = 1;
        static final int READ = 2;
        static final int START = 3;
        static final int STOP = 4;
        static final int DELETE = 4;
        static final int DELETE_ACCOUNT = 6;
        static final int UPDATE = 8;
        static final int OTHER = 99;

        private Activity() {}
    }

    /**
     * @param ofSource the most events of one sender in a minute; 0 for any number
     * @param ofAll the most events of all senders together in a minute
     */
    AuditKind(OcsfClass ocsfClass, int activity, int ofSource, int ofAll) {
        this.ocsfClass = ocsfClass;
        this.activity = activity;
        this.ofSource = ofSource;
        this.ofAll = ofAll;
    }

    /** Returns the name in the stream and in metrics, such as {@code login_refused}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    OcsfClass ocsfClass() {
        return ocsfClass;
    }

    int activity() {
        return activity;
    }

    int mostOfSource() {
        return ofSource;
    }

    int mostOfAll() {
        return ofAll;
    }

    boolean isLimited() {
        return ofSource > 0;
    }
}
