package io.railhead.cli.doctor;

/**
 * One line of the doctor's report.
 *
 * @param why it matters
 * @param mend the command or setting that mends it; "" where nothing needs to be
 */
public record Finding(Mark mark, String subject, String found, String why, String mend) {

    /** Urgency of a finding. */
    public enum Mark {
        OK,
        /** Works, but slower or not after a change that is likely. */
        WARN,
        /** Does not do what the configuration asks for. */
        FAIL
    }

    static Finding ok(String subject, String found, String why) {
        return new Finding(Mark.OK, subject, found, why, "");
    }

    static Finding warn(String subject, String found, String why, String mend) {
        return new Finding(Mark.WARN, subject, found, why, mend);
    }

    static Finding fail(String subject, String found, String why, String mend) {
        return new Finding(Mark.FAIL, subject, found, why, mend);
    }

    /** A failure where the thing was asked for, a warning where it only could be. */
    static Finding lacking(boolean asked, String subject, String found, String why, String mend) {
        return asked ? fail(subject, found, why, mend) : warn(subject, found, why, mend);
    }
}
