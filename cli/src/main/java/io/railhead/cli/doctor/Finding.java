package io.railhead.cli.doctor;

/**
 * One line of the doctor's report.
 *
 * @param why the reason why it matters
 * @param mend the command or setting that repairs it; "" if nothing needs to be
 */
public record Finding(Mark mark, String subject, String found, String why, String mend) {

    /** The severity of a finding. */
    public enum Mark {
        OK,
        /** Works, but slowly, or not after a likely change. */
        WARN,
        /** Does not do what the configuration requires. */
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

    /** Returns a failure if the feature is configured, otherwise a warning. */
    static Finding lacking(boolean asked, String subject, String found, String why, String mend) {
        return asked ? fail(subject, found, why, mend) : warn(subject, found, why, mend);
    }
}
