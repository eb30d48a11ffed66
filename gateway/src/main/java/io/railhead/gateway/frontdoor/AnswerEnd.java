package io.railhead.gateway.frontdoor;

import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;

/** The end of a response in the written bytes. */
final class AnswerEnd {

    private AnswerEnd() {}

    /**
     * Returns whether a message ends a response. An interim response such as 100 Continue is whole,
     * and ends none.
     */
    static boolean is(Object message) {
        boolean isInterim = message instanceof HttpResponse answer
                && answer.status().codeClass() == HttpStatusClass.INFORMATIONAL
                && !answer.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
        return message instanceof LastHttpContent && !isInterim;
    }
}
