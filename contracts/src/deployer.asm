; The deployer: deploys those forwarders of a list that do not exist yet, and is gone when its transaction ends. It
; runs as a constructor: what follows it in its init code is the list, and whoever creates it is the factory that it
; calls.
;
; Each entry is the forwarder's address (20) and what the factory is called with: salt (32) and init code (157).
; The figures are checked by tools/build.mjs: 0x2a is this program's length, 0xd1 an entry's, 0xbd that of an entry
; without its address. `at` is where an entry begins, `next` where the one behind it does.

        PUSH1 0x2a              ; at             the first one

entry:                          ; at
        CODESIZE                ; at size
        DUP2                    ; at size at
        LT                      ; at more        at < size
        PUSH1 @deploy           ; at more deploy
        JUMPI                   ; at

        ; Created and destroyed in one transaction, it leaves nothing behind (EIP-6780), so it can be run again. What
        ; somebody may have sent to its address before goes to the factory, since it must go somewhere.
        CALLER                  ; at factory
        SELFDESTRUCT            ;

deploy:                         ; at
        PUSH1 0xd1              ; at 209
        DUP1                    ; at 209 209
        DUP3                    ; at 209 209 at
        PUSH1 0x0c              ; at 209 209 at 12
        CODECOPY                ; at 209         codecopy(12, at, 209); memory: 12 zeros, address, salt, init code
        ADD                     ; next
        PUSH1 0x00              ; next 0
        MLOAD                   ; next address
        EXTCODESIZE             ; next length
        PUSH1 @entry            ; next length entry
        JUMPI                   ; next           it exists: a second deployment would burn nearly all the gas

        PUSH1 0x00              ; next 0
        DUP1                    ; next 0 0
        PUSH1 0xbd              ; next 0 0 189
        PUSH1 0x20              ; next 0 0 189 32
        DUP3                    ; next 0 0 189 32 0
        CALLER                  ; next 0 0 189 32 0 factory
        GAS                     ; next 0 0 189 32 0 factory gas
        CALL                    ; next ok        call(gas, factory, 0, 32, 189, 0, 0)
        POP                     ; next           should one fail, the others are deployed all the same
        PUSH1 @entry            ; next entry
        JUMP                    ; next
