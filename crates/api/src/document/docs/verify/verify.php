<?php
// $rawBody is file_get_contents('php://input'), before any JSON parsing.
function verify(string $rawBody, string $header, string $secret, ?int $nowS = null): bool
{
    $nowS ??= time();
    $t = '';
    $given = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = explode('=', trim($part), 2) + [1 => ''];
        if ($name === 't') {
            $t = $value;
        } elseif ($name === 'v1') {
            $given[] = $value;
        }
    }
    if (!ctype_digit($t) || abs($nowS - (int) $t) > 300) {
        return false;
    }
    $expected = hash_hmac('sha256', "$t.$rawBody", $secret);
    foreach ($given as $value) {
        if (hash_equals($expected, $value)) {
            return true;
        }
    }
    return false;
}
