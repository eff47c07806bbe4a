; The forwarder: the code of a deposit address, once somebody deploys it. Forwarder.sol says the same in
; Solidity, and the tests hold the two against each other.
;
; One instruction a line, `name:` is a jump destination, `@name` pushes its place. `destination` is left
; open: 20 bytes, the merchant's, which are in the code and nowhere else. After the semicolon stands the
; stack after the instruction, top last: d = destination, t = token.

        PUSH20 destination      ; d

        ; No data: somebody sends the native coin. Keep it, and cost less than the 2,300 gas of a stipend.
        CALLDATASIZE            ; d size
        PUSH1 @called           ; d size called
        JUMPI                   ; d
        STOP

called:                         ; d
        PUSH1 0x04              ; d 4
        CALLDATALOAD            ; d t            all 32 bytes; missing ones read as zero
        PUSH1 0x00              ; d t 0
        CALLDATALOAD            ; d t data
        PUSH1 0xe0              ; d t data 224
        SHR                     ; d t selector
        PUSH4 0x79c76e1a        ; d t selector flush(address)
        EQ                      ; d t same
        PUSH1 @flush            ; d t same flush
        JUMPI                   ; d t
        PUSH1 0x00              ; d t 0
        DUP1                    ; d t 0 0
        REVERT                  ;                any other function: refused, without a reason

flush:                          ; d t
        DUP1                    ; d t t
        PUSH1 @token            ; d t t token
        JUMPI                   ; d t

        ; Token zero: the native coin. t is 0 from here on, and serves as the four zeros of an empty call.
        DUP1                    ; d 0 0
        DUP1                    ; d 0 0 0
        DUP1                    ; d 0 0 0 0
        SELFBALANCE             ; d 0 0 0 0 balance
        DUP6                    ; d 0 0 0 0 balance d
        GAS                     ; d 0 0 0 0 balance d gas
        CALL                    ; d ok           call(gas, d, balance, 0, 0, 0, 0)
        PUSH1 @done             ; d ok done
        JUMPI                   ; d

        ; Whatever was called last has failed: so do we, with its reason. The stack is d or d t.
failed:
        RETURNDATASIZE          ; size
        PUSH1 0x00              ; size 0
        DUP1                    ; size 0 0
        RETURNDATACOPY          ;                returndatacopy(0, 0, size)
        RETURNDATASIZE          ; size
        PUSH1 0x00              ; size 0
        REVERT                  ;                revert(0, size)

token:                          ; d t
        PUSH4 0x70a08231        ; d t balanceOf(address)
        PUSH1 0xe0              ; d t balanceOf 224
        SHL                     ; d t balanceOf…
        PUSH1 0x00              ; d t balanceOf… 0
        MSTORE                  ; d t
        ADDRESS                 ; d t this
        PUSH1 0x04              ; d t this 4
        MSTORE                  ; d t            memory: balanceOf(this)
        PUSH1 0x20              ; d t 32
        PUSH1 0x00              ; d t 32 0
        PUSH1 0x24              ; d t 32 0 36
        PUSH1 0x00              ; d t 32 0 36 0
        DUP5                    ; d t 32 0 36 0 t
        GAS                     ; d t 32 0 36 0 t gas
        STATICCALL              ; d t ok         staticcall(gas, t, 0, 36, 0, 32)
        RETURNDATASIZE          ; d t ok size
        PUSH1 0x1f              ; d t ok size 31
        LT                      ; d t ok answered    31 < size: an answer, not an account without code
        AND                     ; d t good
        ISZERO                  ; d t bad
        PUSH1 @failed           ; d t bad failed
        JUMPI                   ; d t
        PUSH1 0x00              ; d t 0
        MLOAD                   ; d t balance
        PUSH4 0xa9059cbb        ; d t balance transfer(address,uint256)
        PUSH1 0xe0              ; d t balance transfer 224
        SHL                     ; d t balance transfer…
        PUSH1 0x00              ; d t balance transfer… 0
        MSTORE                  ; d t balance
        DUP3                    ; d t balance d
        PUSH1 0x04              ; d t balance d 4
        MSTORE                  ; d t balance
        PUSH1 0x24              ; d t balance 36
        MSTORE                  ; d t            memory: transfer(d, balance)
        PUSH1 0x00              ; d t 0
        DUP1                    ; d t 0 0
        PUSH1 0x44              ; d t 0 0 68
        PUSH1 0x00              ; d t 0 0 68 0
        DUP1                    ; d t 0 0 68 0 0
        DUP6                    ; d t 0 0 68 0 0 t
        GAS                     ; d t 0 0 68 0 0 t gas
        CALL                    ; d t ok         call(gas, t, 0, 0, 68, 0, 0); what it returns is not read
        ISZERO                  ; d t bad
        PUSH1 @failed           ; d t bad failed
        JUMPI                   ; d t

done:
        STOP
