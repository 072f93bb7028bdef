# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of c2emu for fish. What there is to complete, `c2emu complete [VERB]` prints.

# The words before the cursor, without the command.
function __c2emu_words
    set -l words (commandline -opc)
    string join \n -- $words[2..-1]
end

function __c2emu_command
    set -l words (commandline -opc)
    echo $words[1]
end

function __c2emu_table # [VERB]
    set -l command (__c2emu_command)
    $command complete $argv 2>/dev/null
end

# The verb, if the first word is one.
function __c2emu_verb
    set -l words (__c2emu_words)
    test (count $words) -gt 0; or return 0
    __c2emu_table | string match -q -r "^verb\t$words[1]\t"; and echo $words[1]
    return 0
end

# Whether a program has been named: what follows is its own.
function __c2emu_has_program
    set -l verb (__c2emu_verb)
    set -l words (__c2emu_words)
    set -q verb[1]; and set -e words[1]
    set -l table (__c2emu_table $verb)
    test "$table[1]" = program; or return 1
    set -l skip no
    for word in $words
        if test $skip = yes
            set skip no
        else if test "$word" = --
            return 0
        else if string match -q -- '-*' $word
            for row in $table
                set -l fields (string split \t -- $row)
                if test "$fields[1]" = option -a -n "$fields[4]"
                    contains -- $word $fields[2..3]; and set skip yes
                end
            end
        else
            return 0
        end
    end
    return 1
end

# The options of the table, each with its text; with their values behind `=` where these are words.
function __c2emu_options
    set -l current (commandline -ct)
    for row in (__c2emu_table (__c2emu_verb))
        set -l fields (string split \t -- $row)
        test "$fields[1]" = option; or continue
        if test -z "$fields[4]"
            printf '%s\t%s\n' $fields[2] $fields[5]
        else if string match -q -- "$fields[2]=*" $current
            __c2emu_values $fields[4] | string replace -r '^' -- "$fields[2]="
        else
            printf '%s=\t%s\n' $fields[2] $fields[5]
        end
        test -n "$fields[3]"; and printf '%s\t%s\n' $fields[3] $fields[5]
    end
end

function __c2emu_values # KIND
    switch $argv[1]
        case '=*'
            string split ' ' -- (string replace '= ' '' -- $argv[1])
        case machine
            echo host
            set -l command (__c2emu_command)
            $command --list-machines | string replace -r " .*" ""
    end
end

# The values of the option before the cursor.
function __c2emu_value_of_last
    set -l last (__c2emu_words)[-1]
    for row in (__c2emu_table (__c2emu_verb))
        set -l fields (string split \t -- $row)
        if test "$fields[1]" = option -a -n "$fields[4]"
            contains -- "$last" $fields[2..3]; and __c2emu_values $fields[4]
        end
    end
end

function __c2emu_verbs
    __c2emu_table | string match -r '^verb\t.*' | string replace -r '^verb\t' ''
end

# Whether the option before the cursor takes a value, of one of the kinds.
function __c2emu_takes # KIND...
    set -l last (__c2emu_words)[-1]
    for row in (__c2emu_table (__c2emu_verb))
        set -l fields (string split \t -- $row)
        if test "$fields[1]" = option -a -n "$last"
            contains -- "$last" $fields[2..3]; and string match -q -r -- "^($argv[1])" "$fields[4]"; and return 0
        end
    end
    return 1
end

function __c2emu_at_option
    not __c2emu_has_program; and not __c2emu_takes .; and string match -q -- '-*' (commandline -ct)
end

complete -c c2emu -n '__c2emu_at_option' -f -a '(__c2emu_options)'
complete -c c2emu -n 'not __c2emu_has_program; and __c2emu_takes "=|machine"' -f -a '(__c2emu_value_of_last)'
complete -c c2emu -n 'not __c2emu_has_program; and __c2emu_takes directory' -f -a '(__fish_complete_directories)'
complete -c c2emu -n 'test (count (__c2emu_words)) = 0' -a '(__c2emu_verbs)'
complete -c c2emu -n 'contains -- "$(__c2emu_verb)" help complete manual' -f -a '(__c2emu_verbs)'
complete -c c2emu -n '__c2emu_has_program' -a '(__fish_complete_subcommand)'
