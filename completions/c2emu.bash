# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of c2emu for bash. What there is to complete, `c2emu complete [VERB]` prints.

_c2emu_value() # OPTION TABLE: what kind of value the option takes
{
    awk -F '\t' -v option="$1" '$1 == "option" && ($2 == option || $3 == option) { print $4 }' <<<"$2"
}

_c2emu_fill() # KIND WORD
{
    case $1 in
    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    directory) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    machine) mapfile -t COMPREPLY < <(compgen -f -W "host $("$c2emu" --list-machines | cut -d " " -f 1)" -- "$2") ;;
    =*) mapfile -t COMPREPLY < <(compgen -W "${1#=}" -- "$2") ;;
    esac
}

_c2emu()
{
    # --name=value comes as three words.
    local c2emu=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} table verbs kind first=1 verb='' i
    COMPREPLY=()
    table=$("$c2emu" complete 2>/dev/null) || return
    verbs=$(awk -F '\t' '$1 == "verb" { print $2 }' <<<"$table")
    if ((COMP_CWORD > 1)) && grep -qxF -e "${COMP_WORDS[1]}" <<<"$verbs"; then
        verb=${COMP_WORDS[1]} first=2
        table=$("$c2emu" complete "$verb")
    fi
    for ((i = first; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -?*) ;;
        *) [[ $table == program* ]] && { _c2emu_program "$i"; return; }; continue ;;
        esac
        [[ ${COMP_WORDS[i]} == -- ]] && { _c2emu_program "$((i + 1))"; return; }
        kind=$(_c2emu_value "${COMP_WORDS[i]}" "$table")
        [[ $kind ]] || continue
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((++i < COMP_CWORD)) && continue
        [[ $current == = ]] && current=''
        _c2emu_fill "$kind" "$current"
        return
    done
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W \
            "$(awk -F '\t' '$1 == "option" { print $2 ($4 == "" ? "" : "=") }' <<<"$table")" -- "$current")
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    elif [[ $verb == help || $verb == complete || $verb == manual ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
    else
        compopt -o filenames
        [[ $verb ]] && verbs=''
        mapfile -t COMPREPLY < <(compgen -f -- "$current"; [[ $table == program* ]] && compgen -c -- "$current"
            compgen -W "$verbs" -- "$current")
    fi
}

_c2emu_program() # INDEX of its word: it completes its own, where bash-completion is there; else files
{
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -F _c2emu c2emu
